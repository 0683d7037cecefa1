# SPDX-License-Identifier: BSD-3-Clause
"""`ckpt run -- mpirun ...`: ranks die, and the job ends with the right answer, without a user's
intervention."""

import os
import signal
from pathlib import Path

import pytest

from ckpttest import processes, programs

NAME = "job"
STEPS = 500


def start(lab, program, *options, **variables):
    """Starts the program as the job NAME."""
    program.prepare(lab.work)
    run = [lab.ckpt_program, "run", "--name", NAME, *options, "--"]
    # pylint: disable-next=protected-access
    return lab._start([*run, *lab.mpirun_command(program)], variables)


def save(lab, job, program):
    """Takes a checkpoint of a job that makes progress; returns its directory."""
    job.wait_for(program.progress)
    return Path(lab.ckpt_json("checkpoint", NAME)["path"])


def kill_a_rank(job, program, number, by=signal.SIGKILL):
    """Sends a signal to a rank, as the kernel may do."""
    name = Path(program.argv[0]).name
    ranks = [pid for pid in job.ranks() if processes.name_of(pid) == name]
    processes.send(ranks[number], by)


def damage(checkpoint):
    """Truncates the checkpoint's image to half."""
    (image,) = checkpoint.glob("node-*.h5")
    os.truncate(image, image.stat().st_size // 2)


def flip(checkpoint):
    """Flips one bit of the saved memory; only reading all of the memory reveals that."""
    (image,) = checkpoint.glob("node-*.h5")
    with open(image, "r+b") as file:
        file.seek(image.stat().st_size // 2)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 4]))


def endless(lab):
    """Returns a program that goes on until finish() ends it."""
    return programs.churn(STEPS, stop_file=stop_file(lab))


def stop_file(lab):
    return lab.directory / "stop"


def finish(lab, native, *jobs):
    """Ends the program, which must give the right answer."""
    stop_file(lab).touch()
    jobs[-1].succeed()
    program = programs.churn(STEPS)
    assert lab.answer(program, *jobs) == native(program).answer


def test_home_that_cannot_be_written_to(lab):
    """A job needs no file in the home directory."""
    start(lab, programs.ring(1000), HOME="/proc", XDG_CACHE_HOME="/proc/nothing").succeed()


def test_ranks_die(lab, native):
    program = endless(lab)
    job = start(lab, program)
    for restart, rank in ((1, 1), (2, 0), (3, 1)):
        save(lab, job, program)
        kill_a_rank(job, program, rank)
        job.wait_for(f"^ckpt: .*; restart {restart} of at most 10, from {NAME}/")
    finish(lab, native, job)


@pytest.mark.parametrize("spoil", [damage, flip])
def test_the_newest_is_damaged(lab, native, spoil):
    """`ckpt run` takes the checkpoint before; the first restart reports a flipped bit."""
    program = endless(lab)
    job = start(lab, program)
    older, newer = save(lab, job, program), save(lab, job, program)
    spoil(newer)
    kill_a_rank(job, program, 0)
    job.wait_for(f"^ckpt: {NAME}/{int(newer.name)} cannot be used: .*node-")
    job.wait_for(f"^ckpt: .*restart [12] of .*, from {NAME}/{int(older.name)}$")
    finish(lab, native, job)


def test_all_are_damaged(lab):
    """No checkpoint is usable; the exit code is the job's failure."""
    program = endless(lab)
    job = start(lab, program)
    for _ in range(2):
        damage(save(lab, job, program))
    kill_a_rank(job, program, 0)
    assert job.finish() == 137
    job.wait_for("^ckpt: .*there is no checkpoint to restart from")


def test_before_the_first_checkpoint(lab, native):
    """A killed rank is not the program's fault: the job starts from the beginning."""
    program = endless(lab)
    job = start(lab, program)
    job.wait_for(program.progress)
    lab.wait_for_agent(job, NAME)
    kill_a_rank(job, program, 1)
    job.wait_for("^ckpt: .*signal 9.*; restart 1 of at most 10, from the beginning$")
    finish(lab, native, job)


@pytest.mark.parametrize(
    ("options", "number", "reason"),
    [
        ([], signal.SIGSEGV, "there is no checkpoint to restart from$"),
        (["--no-fresh-start"], signal.SIGKILL, "the job must not start over$"),
    ],
)
def test_no_fresh_start(lab, options, number, reason):
    """No fresh start of a program that fails by itself, or must not run twice."""
    program = endless(lab)
    job = start(lab, program, *options)
    job.wait_for(program.progress)
    lab.wait_for_agent(job, NAME)
    kill_a_rank(job, program, 1, number)
    assert job.finish() == 128 + number
    job.wait_for(f"^ckpt: .*{reason}")
    assert not [line for line in job.lines if "; restart " in line]


def test_restart_takes_an_older_one(lab, native):
    """`ckpt restart` of the newest also takes an older one, unless the user named the
    checkpoint."""
    program = endless(lab)
    job = start(lab, program, "--max-restarts", "0")
    save(lab, job, program)
    newest = save(lab, job, program)
    kill_a_rank(job, program, 0)
    assert job.finish() == 137
    damage(newest)
    assert lab.ckpt("restart", f"{NAME}/{int(newest.name)}").returncode == 1
    again = lab.restart(NAME)
    again.wait_for(f"^ckpt: {NAME}/{int(newest.name)} cannot be used")
    finish(lab, native, job, again)
