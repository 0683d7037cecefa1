# SPDX-License-Identifier: BSD-3-Clause
"""Fortran programs, saved in their middle and restarted: every digit of their results
equals that of an uninterrupted run. The features of the three dialects are probes
(test_probes.py, test_other_mpi.py)."""

import random

import pytest

from ckpttest import probes, programs
from ckpttest.lab import Lab
from ckpttest.settings import APPS

# Sums of OpenMP threads differ from run to run.
SETTINGS = {"OMP_NUM_THREADS": "1"}


def wait_for_lines(job, path, count):
    """Waits until a program's output file has `count` lines."""
    while not path.exists() or len(path.read_text("utf-8").splitlines()) < count:
        assert job.run_on(0.05), f"ended before {count} lines in {path.name}"


def test_elk(tmp_path):
    program = programs.elk()
    plain = Lab(tmp_path / "plain", **SETTINGS)
    answer = plain.run_native(program).answer
    lab = Lab(tmp_path / "saved", holds=True, **SETTINGS)
    try:
        first = lab.start(program)
        wait_for_lines(first, lab.work / "TOTENERGY.OUT", 3)
        lab.checkpoint(first)
        wait_for_lines(first, lab.work / "TOTENERGY.OUT", 5)
        first.kill()
        second = lab.restart()
        second.succeed()
        assert lab.answer(program, first, second) == answer
    finally:
        lab.close()


needs_fortran = pytest.mark.skipif(
    "fortran/mpi_f08" not in probes.LANGUAGES, reason="no Fortran compiler"
)


@needs_fortran
def test_random_moments(lab, native):
    """A program that never pauses, killed three times."""
    stop_file = lab.directory / "stop"
    program = programs.heat(3000, stop_file=stop_file)
    chance = random.Random("heat")
    job = lab.start(program)
    for _ in range(3):
        job.wait_for(program.progress, count=chance.randint(2, 9))
        lab.checkpoint(job)
        job.kill()
        job = lab.restart()
    stop_file.touch()
    job.succeed()
    assert lab.answer(program, job) == native(programs.heat(3000)).answer


@needs_fortran
def test_bare_names(lab):
    """Functions that only Open MPI's own Fortran library provides."""
    program = programs.Program("bare names", [APPS / "fortran/bare_names"], 1)
    job = lab.start(program)
    assert job.finish() != 0
    assert any("-fno-underscoring" in line for line in job.lines), job.lines
    assert "runs" not in job.lines
    native = lab.start_native(program)
    assert "runs" in native.succeed()
