# SPDX-License-Identifier: BSD-3-Clause
"""MPI files: a program that changes several files all the time is saved and killed at
random moments; and restarts without the files."""

import random
import shutil

import pytest

from ckpttest import probes, programs
from ckpttest.endurance import kill_at_random_moments
from test_probes import Gate


# The second has a matrix of 19 MB: more than one block for each rank.
@pytest.mark.parametrize("width", [16, 12000])
def test_killed_at_random_moments(lab, width):
    """The restart undoes all writes after the checkpoint."""
    stop_file = lab.directory / "stop"
    program = programs.files(0, width=width, stop_file=stop_file)
    kill_at_random_moments(
        lab, program, stop_file, random.Random(width), 3 * [(0.1, 0.3)]
    )


def saved_and_killed(lab, name):
    """Runs a probe past its checkpoint and kills it; returns the probe's file."""
    gate = Gate(lab, name)
    lab.checkpoint(gate.job)
    gate.job.kill()
    return gate, lab.work / probes.FILE


@pytest.mark.waiting
def test_removed_file_comes_back(lab):
    gate, path = saved_and_killed(lab, "file_rewrite")
    path.unlink()
    gate.job = lab.restart()
    gate.open()


@pytest.mark.waiting
def test_missing_input_is_named(lab):
    gate, path = saved_and_killed(lab, "file_input")
    path.rename(lab.work / "elsewhere")
    failed = lab.restart()
    failed.wait_for(rf"MPI file {path} cannot be opened again: no file has that name")
    assert failed.finish() != 0
    (lab.work / "elsewhere").rename(path)
    gate.job = lab.restart()
    gate.open()


@pytest.mark.waiting
def test_replaced_file_is_refused(lab):
    """The name leads to another file than the open one."""
    gate = Gate(lab, "file_input")
    path = lab.work / probes.FILE
    shutil.copy(path, lab.work / "copy")
    (lab.work / "copy").rename(path)
    done = lab.ckpt("checkpoint", gate.job.pid)
    assert done.returncode != 0
    assert "another one has taken its name" in done.stderr, done.stderr
    gate.open()
