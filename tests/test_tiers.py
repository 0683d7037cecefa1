# SPDX-License-Identifier: BSD-3-Clause
"""CKPT_DIR=FAST,SLOW: checkpoints are copied to a permanent directory."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from ckpttest import cluster, non_mpi, programs, refusals
from ckpttest.settings import TIMEOUT

REFUSED = 4
SIZE = 6  # MiB of a rank
LONG = 1500  # steps

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")


@pytest.fixture(autouse=True)
def tiers(lab):
    """Returns the slow directory of the lab, whose store is the fast one."""
    slow = lab.directory / "slow"
    lab.settings["CKPT_DIR"] = f"{lab.store},{slow}"
    return slow


def status_of(lab, job):
    (status,) = lab.ckpt_json("status", job.pid)
    return status


def wait_until_flushed(lab, job, number):
    """Waits until this checkpoint, or a later one, is in the slow directory."""

    def is_there():
        status = status_of(lab, job)
        return status["flushed"] >= number and status["flushing"] == 0

    non_mpi.wait_until(job, is_there)


def save(lab, job, program, count=1):
    """Takes `count` checkpoints, and waits until each is in the slow directory."""
    for _ in range(count):
        job.wait_for(program.progress)
        number = lab.checkpoint(job)["number"]
        wait_until_flushed(lab, job, number)
    return number


def numbers(directory):
    """Returns the numbers of the complete checkpoints in a directory."""
    return sorted(int(path.parent.name) for path in directory.glob("*/0*/manifest.json"))


def test_increments_with_redundancy(lab):
    """The environment may add increments to a job with levels: the checkpoints are full, and the
    agent's log says why."""
    stop = lab.directory / "stop"
    program = programs.traffic(0, 2, stop)
    job = lab.start(program, CKPT_REDUNDANCY="partner", CKPT_INCREMENTAL="4")
    save(lab, job, program, 2)
    (log,) = lab.directory.rglob("ckptd-*.log")
    assert log.read_text().count("--incremental is not used: with --levels") == 1
    assert status_of(lab, job)["increments"] == 0
    stop.touch()
    job.succeed()


def start(lab, steps=600, **settings):
    program = programs.scattered(SIZE, steps, pause_us=2000)
    job = lab.start(program, **settings)
    return program, job


def check_answer(lab, native, program, *jobs):
    jobs[-1].succeed()
    assert lab.answer(program, *jobs) == native(program).answer


@pytest.mark.parametrize(
    "snapshot, protocol", [("stop", "sns"), ("cll", "cl"), ("cow", "ns")]
)
def test_fast_directory_is_lost(lab, tiers, native, snapshot, protocol):
    """The slow directory is enough for a restart, and keeps as many checkpoints as --keep says."""
    program, job = start(lab, CKPT_SNAPSHOT=snapshot, CKPT_PROTOCOL=protocol)
    last = save(lab, job, program, 4)
    lab.kill_and_wait_for_agent(job)
    assert numbers(lab.store) == [last]
    assert numbers(tiers) == [last - 1, last]
    listed = {e["number"]: (e["in_fast"], e["in_slow"]) for e in lab.ckpt_json("list")}
    assert listed == {last - 1: (False, True), last: (True, True)}
    shutil.rmtree(lab.store)
    assert lab.ckpt("verify").returncode == 0
    again = lab.restart()
    check_answer(lab, native, program, job, again)


def test_one_of_both_is_damaged(lab, tiers, native):
    program, job = start(lab)
    save(lab, job, program, 2)
    job.kill()
    (image,) = lab.store.glob("*/0*/node-*.h5")
    os.truncate(image, 1000)
    again = lab.restart()
    again.wait_for(program.progress)
    assert save(lab, again, program) == 3
    assert numbers(tiers) == [2, 3]
    check_answer(lab, native, program, job, again)


def test_job_ends_meanwhile(lab, tiers, native):
    """Its agent stays until the newest checkpoint is in the slow directory."""
    program, job = start(lab, CKPT_CODEC="none", CKPT_WRITE_RATE="24M")
    job.wait_for(program.progress)
    last = lab.checkpoint(job)["number"]
    check_answer(lab, native, program, job)
    deadline = time.monotonic() + TIMEOUT
    while lab.ckpt_json("status")[0]["phase"] != "ended":
        assert time.monotonic() < deadline
    assert numbers(lab.store) == [last]
    assert numbers(tiers) == [last]
    assert lab.ckpt("verify", "--dir", tiers).returncode == 0


@pytest.mark.busy  # the chain is folded when the processors are idle
def test_chain(lab, tiers, native):
    """Incremental checkpoints are copied with their bases, and a folded checkpoint replaces them
    there, too."""
    program = programs.scattered(SIZE, 1000, pause_us=3000)
    job = lab.start(program, CKPT_INCREMENTAL="4")
    save(lab, job, program, 3)
    folded = []
    while len(folded) < 2:
        save(lab, job, program)
        folded = sorted({*folded, *(p.parent.name for p in tiers.glob("*/0*/whole-*.h5"))})
        assert len(numbers(tiers)) <= 4 + 2
    lab.kill_and_wait_for_agent(job)
    shutil.rmtree(lab.store)
    entries = lab.checkpoints()
    assert len(entries) >= 2
    assert {e["state"] for e in lab.ckpt_json("list")} == {"committed"}
    for entry in entries:
        assert lab.ckpt("verify", entry["name"]).returncode == 0
    again = lab.restart(entries[-2]["name"])
    check_answer(lab, native, program, job, again)


def test_kill_waits_for_the_slow_directory(lab, tiers, native):
    program, job = start(lab)
    job.wait_for(program.progress)
    done = lab.ckpt("checkpoint", job.pid, "--kill")
    assert done.returncode == 0, done.stderr
    assert numbers(tiers) == [1]
    job.finish()
    shutil.rmtree(lab.store)
    again = lab.restart()
    check_answer(lab, native, program, job, again)


def test_kill_without_room_in_the_slow_directory(lab, tiers, native):
    """The program goes on, and the earlier checkpoint is still there."""
    program, job = start(lab, LONG, CKPT_FAULT="flush-enospc:2")
    save(lab, job, program)
    done = lab.ckpt("checkpoint", job.pid, "--kill")
    assert done.returncode == REFUSED
    assert refusals.identity(done.stderr) == "not-copied" and "No space left" in done.stderr
    assert numbers(lab.store) == numbers(tiers) == [1]
    save(lab, job, program)
    lab.kill_and_wait_for_agent(job)
    shutil.rmtree(lab.store)
    again = lab.restart()
    check_answer(lab, native, program, job, again)


@as_root
def test_slow_directory_is_full(lab, tiers, native):
    """Checkpoints go on; when there is room again, the newest is copied."""
    program, job = start(lab, LONG)
    tiers.mkdir(mode=0o700)
    mount = ["mount", "-t", "tmpfs", "-o", "size=60m,mode=700", "none"]
    subprocess.run([*mount, tiers], check=True)
    try:
        save(lab, job, program)
        free = os.statvfs(tiers)
        (tiers / "other").write_bytes(bytes((free.f_bavail - 200) * free.f_bsize))
        for _ in range(2):
            job.wait_for(program.progress)
            last = lab.checkpoint(job)["number"]
            non_mpi.wait_until(job, lambda: status_of(lab, job)["flushing"] == 0)
        assert "No space left" in status_of(lab, job)["flush_error"]
        assert "No space left" in lab.ckpt("status", job.pid).stdout
        assert numbers(tiers) == [1]
        assert numbers(lab.store) == [last]
        assert not list(tiers.glob(f"*/{last:06}"))
        (tiers / "other").unlink()
        assert save(lab, job, program) == last + 1
        assert numbers(tiers) == [1, last + 1]
        assert status_of(lab, job)["flush_error"] == ""
        check_answer(lab, native, program, job)
    finally:
        lab.close()
        subprocess.run(["umount", "-l", tiers], check=True)


@pytest.mark.parametrize("fault", ["agent-during-flush:2", "agent-before-slow-manifest:2"])
def test_agent_dies(lab, tiers, native, fault):
    """The next agent copies what this one has left."""
    program, job = start(lab, LONG, CKPT_FAULT=fault)
    save(lab, job, program)
    job.wait_for(program.progress)
    lab.ckpt("checkpoint", job.pid)  # the agent may die before it has answered
    non_mpi.wait_until(job, lambda: numbers(tiers) == [1, 2])
    lab.kill_and_wait_for_agent(job)
    assert numbers(lab.store) == [2]
    assert not [p for p in tiers.glob("*/*/*") if p.suffix == ".tmp"]
    shutil.rmtree(lab.store)
    assert lab.ckpt("verify").returncode == 0
    again = lab.restart()
    check_answer(lab, native, program, job, again)


def test_no_space_at_some_write(lab, tiers, native):
    """The program goes on, with its checkpoint in the fast directory."""
    program, job = start(lab, CKPT_FAULT="flush-enospc")
    job.wait_for(program.progress)
    lab.checkpoint(job)
    non_mpi.wait_until(job, lambda: status_of(lab, job)["flush_error"])
    assert numbers(lab.store) == [1]
    assert numbers(tiers) == []
    save(lab, job, program)
    assert status_of(lab, job)["flush_error"] == ""
    assert numbers(lab.store) == numbers(tiers) == [2]
    check_answer(lab, native, program, job)


def test_number_is_not_used_again(lab, tiers, native):
    """The number of a checkpoint that exists only in the slow directory."""
    program, job = start(lab)
    save(lab, job, program, 2)
    lab.kill_and_wait_for_agent(job)
    shutil.rmtree(lab.store)
    again = lab.restart()
    assert save(lab, again, program) == 3
    check_answer(lab, native, program, job, again)


@pytest.mark.parametrize("text", ["a,b,c", "a,", ",a", "a,a", "a,a/b"])
def test_impossible_directories(lab, text):
    done = lab.ckpt("list", "--dir", text)
    assert done.returncode == 2
    assert "--dir" in done.stderr


@pytest.mark.skipif(not cluster.is_possible(), reason="no network namespaces")
def test_fast_directory_of_each_node(nodes, tmp_path, native):
    """Only the node sees its piece until that is in the slow directory. Each node removes its
    obsolete pieces."""
    lab = nodes.lab(tmp_path / "lab")
    slow = tmp_path / "lab" / "slow"
    lab.settings["CKPT_DIR"] = f"{nodes.run}/here/fast,{slow}"
    program = programs.scattered(SIZE, 600, pause_us=2000)
    job = lab.start(program)
    try:
        last = save(lab, job, program, 4)
        fast = [Path(nodes.run, name, "fast") for name in nodes.names]

        def only_the_last():
            left = [sorted(p.name for p in f.glob("*/0*")) for f in fast]
            return left == 2 * [[f"{last:06}"]]

        non_mpi.wait_until(job, only_the_last)
        for name in nodes.names:
            nodes.kill(name)
        for directory in fast:
            shutil.rmtree(directory)
        assert numbers(slow) == [last - 1, last]
        again = lab.restart()
        again.succeed()
        assert lab.answer(program, job, again) == native(program).answer
    finally:
        lab.close()


@pytest.mark.skipif(not cluster.is_possible(), reason="no network namespaces")
def test_one_directory_of_each_node(nodes, tmp_path, native):
    """A directory on each node alone does not allow a restart, and is refused."""
    lab = nodes.lab(tmp_path / "lab")
    lab.settings["CKPT_DIR"] = f"{nodes.run}/here/own"
    program = programs.scattered(SIZE, 200, pause_us=2000)
    job = lab.start(program)
    try:
        job.wait_for(program.progress)
        done = lab.ckpt("checkpoint", job.pid)
        assert done.returncode == REFUSED
        assert refusals.identity(done.stderr) == "unshared-directory"
        assert "on n2" in done.stderr
        job.succeed()
        assert lab.answer(program, job) == native(program).answer
    finally:
        lab.close()
