# SPDX-License-Identifier: BSD-3-Clause
"""Commands for a job under `ckpt run`: to end it after a checkpoint, and to free its nodes."""

import pytest

from ckpttest import alone, processes, programs
from ckpttest.settings import APPS

SLEEPER = ["sleep", "1000"]
RESUMABLE = 75


def run(lab, launcher):
    """Starts `ckpt run` of a program that runs for long, by mpirun or without it."""
    if launcher == "alone":
        return alone.start(lab, *SLEEPER)
    program = programs.traffic(0, 2, lab.directory / "stop")
    program.prepare(lab.work)
    return alone.start(lab, *lab.mpirun_command(program))


def left_of(lab, job):
    """Returns the names of the launch's processes: launcher, ranks, agents."""
    below = processes.descendants(job.pid)
    agents = processes.started_with("CKPT_DIR", lab.environment()["CKPT_DIR"])
    return [
        processes.name_of(pid)
        for pid in {*below, *agents}
        if pid != job.pid and processes.is_alive(pid)
    ]


@pytest.mark.parametrize("launcher", ["alone", "mpirun"])
def test_kill_ends_the_job(lab, launcher):
    """The job is not restarted, but a user can restart it."""
    job = run(lab, launcher)
    alone.process_of(lab, job)
    done = lab.ckpt("checkpoint", "--kill", alone.name(lab))
    assert done.returncode == 0, done
    assert job.finish() == RESUMABLE
    assert not [line for line in job.lines if "restart 1" in line or "killed" in line], job.lines
    assert [line for line in job.lines if f"ckpt restart {done.stdout.strip()}" in line]
    again = lab.restart(alone.name(lab))
    alone.wait_until(again, lambda: alone.status(lab))


@pytest.mark.parametrize("launcher", ["alone", "mpirun"])
def test_nodes_are_free_when_swap_returns(lab, launcher):
    """Nothing of the launch runs, and the job can be resumed at once."""
    job = run(lab, launcher)
    first = alone.process_of(lab, job)
    done = lab.ckpt("swap", alone.name(lab))
    assert done.stdout == f"{alone.name(lab)}/1\n", done
    assert left_of(lab, job) == []
    assert lab.ckpt("resume", alone.name(lab)).returncode == 0
    assert alone.process_of(lab, job) != first


@pytest.mark.parametrize("how", ["colon", "appfile"])
def test_several_programs_are_restarted(lab, how):
    """Under `ckpt run` and by hand; each rank restarts as the same program."""
    stop = lab.directory / "stop"
    other = lab.work / "other"
    other.symlink_to(APPS / "traffic")
    each = f"{APPS}/traffic 0 {stop}"
    if how == "colon":
        command = ["-np", 1, *each.split(), ":", "-np", 1, "./other", 0, stop]
    else:
        (lab.work / "app").write_text(f"-np 1 {each}\n-np 1 ./other 0 {stop}\n", "utf-8")
        command = ["--app", "app"]
    job = alone.start(lab, lab.mpirun, "--oversubscribe", *command)
    alone.process_of(lab, job)
    alone.save(lab)
    alone.kill(lab, job)
    job.wait_for("; restart 1 of .*/1$")
    alone.process_of(lab, job)
    assert lab.ckpt("checkpoint", "--kill", alone.name(lab)).returncode == 0
    job.finish()
    again = lab.restart(alone.name(lab))
    alone.wait_until(again, lambda: alone.status(lab))
    stop.touch()
    assert programs.ok_line(again.succeed(), None)
