# SPDX-License-Identifier: BSD-3-Clause
"""Commands for a job under `ckpt run`: to end it after a checkpoint, and to free its nodes."""

import fcntl
import os
import shutil
import signal

import pytest

from ckpttest import non_mpi, processes, programs
from ckpttest.settings import APPS

SLEEPER = ["sleep", "1000"]
RESUMABLE = 75


def run(lab, launcher):
    """Starts `ckpt run` of a program that runs for long, by mpirun or without it."""
    if launcher == "alone":
        return non_mpi.start(lab, *SLEEPER)
    program = programs.traffic(0, 2, lab.directory / "stop")
    program.prepare(lab.work)
    return non_mpi.start(lab, *lab.mpirun_command(program))


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
    non_mpi.process_of(lab, job)
    done = lab.ckpt("checkpoint", "--kill", non_mpi.name(lab))
    assert done.returncode == 0, done
    assert job.finish() == RESUMABLE
    assert not [line for line in job.lines if "restart 1" in line or "killed" in line], job.lines
    assert [line for line in job.lines if f"ckpt restart {done.stdout.strip()}" in line]
    again = lab.restart(non_mpi.name(lab))
    non_mpi.wait_until(again, lambda: non_mpi.status(lab))


@pytest.mark.parametrize("launcher", ["alone", "mpirun"])
def test_nodes_are_free_when_swap_returns(lab, launcher):
    """Nothing of the launch runs, and the job can be resumed at once."""
    job = run(lab, launcher)
    first = non_mpi.process_of(lab, job)
    done = lab.ckpt("swap", non_mpi.name(lab))
    assert done.stdout == f"{non_mpi.name(lab)}/1\n", done
    assert left_of(lab, job) == []
    assert lab.ckpt("resume", non_mpi.name(lab)).returncode == 0
    assert non_mpi.process_of(lab, job) != first


@pytest.mark.parametrize("lost", ["piece", "checkpoint"])
def test_the_checkpoint_of_a_swap_is_lost(lab, lost):
    """A job with a damaged checkpoint does not start over, because that would repeat its work. If
    there is no checkpoint at all, the message says that the job starts over."""
    job = run(lab, "alone")
    first = non_mpi.process_of(lab, job)
    name = lab.ckpt("swap", non_mpi.name(lab)).stdout.strip()
    (manifest,) = lab.store.glob(f"{non_mpi.name(lab)}/0*/manifest.json")
    if lost == "piece":
        (piece,) = manifest.parent.glob("node-*")
        piece.unlink()
    else:
        shutil.rmtree(manifest.parent)
    assert lab.ckpt("resume", non_mpi.name(lab)).returncode == 0
    if lost == "piece":
        assert job.finish() not in (0, RESUMABLE)
        assert [line for line in job.lines if "there is no checkpoint to restart from" in line]
        assert [line for line in job.lines if name in line and "node-" in line], job.lines
    else:
        job.wait_for("^ckpt: no checkpoint is left; the job starts from the beginning$")
        assert non_mpi.process_of(lab, job) != first


# Names its nodes, and ends as if the kernel had killed it.
KILLED_MPIRUN = """#!/bin/sh
echo "launched with $*"
until [ -e may-end ]; do sleep 0.02; done
kill -KILL $$
"""


def test_a_migration_signal_while_the_next_launch_is_prepared(lab):
    """The launch that follows the signal is already on the new nodes."""
    lab.work.joinpath("nodes").write_text("n2\n", encoding="utf-8")
    mpirun = lab.work / "mpirun"
    mpirun.write_text(KILLED_MPIRUN, encoding="utf-8")
    mpirun.chmod(0o755)
    options = ["--spares", 1, "--migrate-signal", "USR2", "--nodes-file", "nodes"]
    options += ["--max-restarts", 1, "--back-off", "1ms"]
    job = non_mpi.start(lab, mpirun, "--host", "n1,n2", "-np", 1, "prog", options=options)
    assert "n1" in job.wait_for("^launched with .*").group()
    (journal,) = lab.store.glob("*/journal")
    lock = os.open(journal / "kept", os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (lab.work / "may-end").touch()
        non_mpi.wait_until(job, lambda: processes.waits_for_lock(job.pid))
        os.kill(job.pid, signal.SIGUSR2)
    finally:
        os.close(lock)
    job.wait_for("^ckpt: SIGUSR2: the job moves to nodes")
    again = job.wait_for("^launched with .*").group()
    assert "n2" in again and "n1" not in again, again
    assert job.finish() != 0


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
    job = non_mpi.start(lab, lab.mpirun, "--oversubscribe", *command)
    non_mpi.process_of(lab, job)
    non_mpi.save(lab)
    non_mpi.kill(lab, job)
    job.wait_for("; restart 1 of .*/1$")
    non_mpi.process_of(lab, job)
    assert lab.ckpt("checkpoint", "--kill", non_mpi.name(lab)).returncode == 0
    job.finish()
    again = lab.restart(non_mpi.name(lab))
    non_mpi.wait_until(again, lambda: non_mpi.status(lab))
    stop.touch()
    assert programs.ok_line(again.succeed(), None)
