# SPDX-License-Identifier: BSD-3-Clause
"""Outputs are concealed until a checkpoint commits (docs/file-journal.md)."""

import os

import pytest

from ckpttest import concealed, non_mpi, processes, trees
from ckpttest.lab import WAIT_FILE


def visible(lab):
    """Returns the names that other processes see of what the program has made."""
    return sorted(set(os.listdir(lab.work)) - {WAIT_FILE})


def test_outputs_appear_when_a_checkpoint_commits(lab):
    """Outputs appear at the commit and not before, in the order of their production, and all of
    them at the end."""
    program = concealed.Producer(lab, 120)
    job = concealed.start(lab, program)
    job.wait_for("^at 20$")
    assert not visible(lab)
    assert not concealed.steps_in(job.lines)
    non_mpi.save(lab)
    seen = concealed.wait_until_revealed(lab, job)
    program.check_state()
    assert program.step_of(0) >= 19 and concealed.steps_in(job.lines)
    job.wait_for(f"^at {program.step_of(0) + 20}$")
    assert trees.look_at(lab.work) == seen
    lines = job.succeed()
    program.check_end()
    program.check_lines(lines)
    assert not concealed.complaints(lines)
    assert not list(lab.directory.rglob(".ckpt-concealed*"))


def test_rank_is_killed(lab):
    """Output that the killed program wrote after the checkpoint never becomes visible."""
    program = concealed.Producer(lab, 120)
    job = concealed.start(lab, program, "--back-off", "0.1s")
    job.wait_for("^at 20$")
    non_mpi.save(lab)
    seen = concealed.wait_until_revealed(lab, job)
    job.wait_for(f"^at {program.step_of(0) + 20}$")
    processes.kill(job.ranks()[-1])
    job.wait_for("; restart 1 of ")
    assert trees.look_at(lab.work) == seen
    lines = job.succeed()
    program.check_end()
    program.check_lines(lines)
    assert not concealed.complaints(lines)


def test_fails_before_its_first_checkpoint(lab):
    """No output was visible, and the program starts from the beginning."""
    program = concealed.Producer(lab, 60)
    job = concealed.start(lab, program, "--back-off", "0.1s")
    job.wait_for("^at 20$")
    processes.kill(job.ranks()[-1])
    job.wait_for("from the beginning")
    assert not visible(lab)
    lines = job.succeed()
    program.check_end()
    program.check_lines(lines)


EVERY = 20  # steps between two reports


def reported_step(job):
    """Returns the newest step that the program has told."""
    return int([line for line in job.lines if line.startswith("at ")][-1].split()[1])


def test_ends_for_good(lab):
    """A job that fails and is not restarted keeps all output after its last checkpoint
    concealed."""
    program = concealed.Producer(lab, 400)
    job = concealed.start(lab, program, "--max-restarts", 0)
    job.wait_for("^at 20$")
    non_mpi.save(lab)
    saved = reported_step(job)
    non_mpi.wait_until(job, lambda: reported_step(job) >= saved + 2 * EVERY)
    processes.kill(job.ranks()[-1])
    assert job.finish() != 0
    step = program.step_of(0)
    assert 19 <= step < saved + EVERY
    program.check_state()
    assert any("stay concealed" in line for line in job.lines)
    again = concealed.start(lab, program, "--resume")
    again.wait_for(f"^at {step // EVERY * EVERY + 2 * EVERY}$")
    assert program.step_of(0) == step
    again.succeed()
    program.check_end()


# Fails when it may.
FAILING = """
import os, sys, time
print("runs", file=sys.stderr, flush=True)
while not os.path.exists("may-end"):
    time.sleep(0.02)
sys.exit(7)
"""


def test_outputs_that_cannot_be_revealed(lab):
    """The job's exit code stays, and the job has no owner any more."""
    command = ["/usr/bin/python3", "-c", FAILING]
    job = non_mpi.start(lab, *command, options=["--files", "conceal", "--max-restarts", 0])
    job.wait_for("^runs$")
    (journal,) = lab.store.glob("*/journal")
    (journal / "revealed").write_text("no note", encoding="utf-8")
    assert (journal.parent / "owner").exists()
    (lab.work / "may-end").touch()
    assert job.finish() == 7
    assert [line for line in job.lines if line.startswith("ckpt: ") and "revealed" in line]
    assert not (journal.parent / "owner").exists()


@pytest.mark.parametrize("seed", range(1, 3))
def test_tree(lab, seed):
    """A program that changes a tree in every way sees the right tree, and so do other processes."""
    counts = concealed.run_tree(lab, 4, seed)
    assert counts["kills"] == 4, counts


POINTS = ["reveal-after-intent", "reveal-after-step:3", "reveal-after-step:40",
          "reveal-before-done"]


@pytest.mark.parametrize("point", POINTS)
def test_ckpt_run_dies_while_it_reveals(lab, point):
    """Another `ckpt run` goes on, and reveals the rest."""
    program = concealed.Producer(lab, 120)
    job = concealed.start(lab, program, CKPT_FAULT=point)
    job.wait_for("^at 20$")
    non_mpi.save(lab)
    assert job.finish() == -9
    again = concealed.start(lab, program, "--resume")
    lines = again.succeed()
    program.check_end()
    assert not concealed.complaints(lines)
    assert len(set(concealed.steps_in([*job.lines, *lines]))) == 240
