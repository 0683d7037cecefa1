# SPDX-License-Identifier: BSD-3-Clause
"""`ckpt run -- mpirun ...`: ranks die, and the job ends with the right answer all the
same; nobody touches it."""

import os
import signal
from pathlib import Path

import pytest

from ckpttest import processes, programs

NAME = "job"
STEPS = 500


def start(lab, program, *options, **variables):
    """The program as a job of that name."""
    program.prepare(lab.work)
    run = [lab.ckpt_program, "run", "--name", NAME, *options, "--"]
    # pylint: disable-next=protected-access
    return lab._start([*run, *lab.mpirun_command(program)], variables)


def save(lab, job, program):
    """A checkpoint of a job that gets on; its directory."""
    job.wait_for(program.progress)
    return Path(lab.ckpt_json("checkpoint", NAME)["path"])


def kill_a_rank(job, program, number, by=signal.SIGKILL):
    """A signal to one, as the kernel may send it."""
    name = Path(program.argv[0]).name
    ranks = [pid for pid in job.ranks() if processes.name_of(pid) == name]
    processes.send(ranks[number], by)


def damage(checkpoint):
    """Half of its memory is lost."""
    (image,) = checkpoint.glob("node-*.h5")
    os.truncate(image, image.stat().st_size // 2)


def flip(checkpoint):
    """One bit of its memory is another one, which only reading all of it tells."""
    (image,) = checkpoint.glob("node-*.h5")
    with open(image, "r+b") as file:
        file.seek(image.stat().st_size // 2)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 4]))


def endless(lab):
    """A program that goes on until finish() ends it."""
    return programs.churn(STEPS, stop_file=stop_file(lab))


def stop_file(lab):
    return lab.directory / "stop"


def finish(lab, native, *jobs):
    """To the right answer."""
    stop_file(lab).touch()
    jobs[-1].succeed()
    program = programs.churn(STEPS)
    assert lab.answer(program, *jobs) == native(program).answer


def test_home_that_cannot_be_written_to(lab):
    """Nothing of a job has to be there."""
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
    """Then the one before it is taken; of a flipped bit the first restart tells."""
    program = endless(lab)
    job = start(lab, program)
    older, newer = save(lab, job, program), save(lab, job, program)
    spoil(newer)
    kill_a_rank(job, program, 0)
    job.wait_for(f"^ckpt: {NAME}/{int(newer.name)} cannot be used: .*node-")
    job.wait_for(f"^ckpt: .*restart [12] of .*, from {NAME}/{int(older.name)}$")
    finish(lab, native, job)


def test_all_are_damaged(lab):
    """There is nothing that might be right; the failure is that of the job."""
    program = endless(lab)
    job = start(lab, program)
    for _ in range(2):
        damage(save(lab, job, program))
    kill_a_rank(job, program, 0)
    assert job.finish() == 137
    job.wait_for("^ckpt: .*there is no checkpoint to restart from")


def test_before_the_first_checkpoint(lab, native):
    """A rank that is killed is not to blame: the job begins anew."""
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
        (["--no-fresh-start"], signal.SIGKILL, "it must not begin anew$"),
    ],
)
def test_no_fresh_start(lab, options, number, reason):
    """Of a program that fails by itself, or is not to run twice."""
    program = endless(lab)
    job = start(lab, program, *options)
    job.wait_for(program.progress)
    lab.wait_for_agent(job, NAME)
    kill_a_rank(job, program, 1, number)
    assert job.finish() == 128 + number
    job.wait_for(f"^ckpt: .*{reason}")
    assert not [line for line in job.lines if "; restart " in line]


def test_restart_takes_an_older_one(lab, native):
    """`ckpt restart` of the newest, too; not if just that one was asked for."""
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
