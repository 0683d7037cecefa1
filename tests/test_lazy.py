# SPDX-License-Identifier: BSD-3-Clause
"""Lazy restarts: the program runs before all of its memory is read."""

import os
import signal
import sys
import time

import pytest
from test_encryption import make_key

from ckpttest import mpis, non_mpi, processes, programs
from ckpttest.job import JobError
from ckpttest.settings import TIMEOUT

MIB = 1 << 20
SIZE = 64  # MiB
PAGES = "ckpt-pages"
ON_DEMAND = {"CKPT_LAZY": "always", "CKPT_FAULT": "pages-on-demand"}

# Fills its memory, waits for a file, then does something with the memory and checks all of it.
PROGRAM = """
import hashlib, mmap, os, sys, threading, time

go, action, size = sys.argv[1], sys.argv[2], int(sys.argv[3]) << 20
memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for at in range(0, size, 4096):
    memory[at:at + 8] = (at * 0x9E3779B97F4A7C15 % 2**64).to_bytes(8, "little")
print("step 1", flush=True)
while not os.path.exists(go):
    time.sleep(0.01)

def digest(first=0, end=size):
    return hashlib.sha256(memoryview(memory)[first:end]).hexdigest()

def fork():
    child = os.fork()
    if child == 0:
        print("child", digest(), flush=True)
        os._exit(0)
    memory[size // 2:size // 2 + 4096] = bytes(4096)  # after the fork: not in the child
    assert os.waitpid(child, 0)[1] == 0

def threads():
    parts = [threading.Thread(target=digest, args=(size * i // 4, size * (i + 1) // 4))
             for i in range(4)]
    for part in parts:
        part.start()
    for part in parts:
        part.join()

def kernel():
    with open(go + ".content", "wb+") as file:
        file.write(memoryview(memory)[size // 4:size // 4 + 100000])
        file.seek(0)
        assert file.readinto(memoryview(memory)[size // 3:size // 3 + 100000]) == 100000

def discard():
    memory.madvise(mmap.MADV_DONTNEED, size // 4, size // 4)

{"none": lambda: None, "fork": fork, "threads": threads, "kernel": kernel,
 "discard": discard}[action]()
print("OK", digest(), flush=True)
"""


def words(lab, action):
    return [sys.executable, "-c", PROGRAM, lab.work / "go", action, SIZE]


def checkpointed(lab, action="none", count=1, **settings):
    """Saves and kills the program without MPI; returns the answer of a run without ckpt."""
    go = lab.work / "go"
    go.touch()
    answer = [line for line in non_mpi.lines_of(*words(lab, action)) if "step" not in line]
    go.unlink()
    job = non_mpi.start(lab, *words(lab, action), **settings)
    job.wait_for("^step")
    pid = non_mpi.process_of(lab, job)
    for _ in range(count):
        non_mpi.save(lab)
    (status,) = lab.ckpt_json("status", non_mpi.name(lab))
    processes.send(job.pid, signal.SIGKILL)
    processes.kill(pid)
    assert processes.wait_until_gone([job.pid, pid, status["agent_pid"]], TIMEOUT)
    return answer


def page_servers(lab):
    """Returns the process ids of the page servers of this lab."""
    ours = processes.started_with("CKPT_DIR", str(lab.store))
    return [pid for pid in ours if processes.name_of(pid) == PAGES]


def wait_for_page_servers(lab, job, count=1):
    deadline = time.monotonic() + TIMEOUT
    while len(found := page_servers(lab)) < count:
        assert time.monotonic() < deadline, "no page server"
        assert job.run_on(0.02), "\n".join(["it ended", *job.lines[-10:]])
    return found


def answer_of(job):
    """Lets the program go on; returns what it says, and checks that its page server ends."""
    job.succeed()
    return [line for line in job.lines if line.startswith(("OK", "child"))]


@pytest.mark.parametrize("action", ["none", "fork", "threads", "kernel", "discard"])
@pytest.mark.parametrize("how", ["at-once", "on-demand"])
def test_program_is_right(lab, action, how):
    answer = checkpointed(lab, action)
    settings = ON_DEMAND if how == "on-demand" else {"CKPT_LAZY": "always"}
    job = lab.restart(**settings)
    if how == "on-demand":
        wait_for_page_servers(lab, job)
    (lab.work / "go").touch()
    assert answer_of(job) == answer
    assert processes.wait_until_gone(page_servers(lab), TIMEOUT)


@pytest.mark.parametrize("snapshot", ["stop", "cow", "cll", "memory"])
def test_checkpoint_while_lazy(lab, snapshot):
    """It waits until all memory is there, and is right."""
    answer = checkpointed(lab)
    job = lab.restart(CKPT_SNAPSHOT=snapshot, **ON_DEMAND)
    servers = wait_for_page_servers(lab, job)
    pid = non_mpi.process_of(lab, job)
    assert page_servers(lab) == servers
    non_mpi.save(lab)
    assert processes.wait_until_gone(servers, TIMEOUT)
    (status,) = lab.ckpt_json("status", non_mpi.name(lab))
    processes.kill(pid)
    job.finish()
    assert processes.wait_until_gone([status["agent_pid"]], TIMEOUT)
    (lab.work / "go").touch()
    assert answer_of(lab.restart(CKPT_LAZY="no")) == answer


def test_incremental_checkpoints_are_read_lazily(lab):
    answer = checkpointed(lab, CKPT_INCREMENTAL="4")
    for _ in range(2):
        job = lab.restart(**ON_DEMAND)
        wait_for_page_servers(lab, job)
        pid = non_mpi.process_of(lab, job)
        non_mpi.save(lab)
        non_mpi.save(lab)
        (status,) = lab.ckpt_json("status", non_mpi.name(lab))
        processes.kill(pid)
        job.finish()
        assert processes.wait_until_gone([status["agent_pid"]], TIMEOUT)
    job = lab.restart(**ON_DEMAND)
    wait_for_page_servers(lab, job)
    (lab.work / "go").touch()
    assert answer_of(job) == answer


def damage(lab):
    """Flips a bit in the middle of the only image."""
    (image,) = lab.store.glob("*/*/node-*.h5")
    with image.open("rb+") as file:
        file.seek(image.stat().st_size // 2)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 1]))
    return image


def test_damaged_chunk_ends_the_program_with_its_name(lab):
    checkpointed(lab, CKPT_CODEC="none")  # nearly all of the image is the program's memory
    image = damage(lab)
    job = lab.restart(**ON_DEMAND)
    wait_for_page_servers(lab, job)
    (lab.work / "go").touch()
    assert job.finish() == -signal.SIGKILL
    text = "\n".join(job.lines)
    assert f"of rank 0 in {image}" in text and "chunk" in text and "cannot go on" in text
    assert "OK" not in text


@pytest.mark.parametrize("name", [PAGES, "ckpt-guardian"])
def test_killed_page_server(lab, name):
    """The program ends with a message. It does not need the guardian."""
    answer = checkpointed(lab)
    job = lab.restart(**ON_DEMAND)
    non_mpi.process_of(lab, job)  # it runs
    ours = processes.started_with("CKPT_DIR", str(lab.store))
    (victim,) = [pid for pid in ours if processes.name_of(pid) == name]
    processes.kill(victim)
    assert processes.wait_until_gone([victim], TIMEOUT)
    (lab.work / "go").touch()
    if name == PAGES:
        assert job.finish() == -signal.SIGKILL
        assert "signal 9 has ended the page server" in "\n".join(job.lines)
        assert not any(line.startswith("OK") for line in job.lines)
    else:
        assert answer_of(job) == answer


def without_rights(lab):
    """Lets the lab's programs run without CAP_SYS_PTRACE."""
    lab.wrap = lambda command: ["setpriv", "--bounding-set", "-sys_ptrace", *map(str, command)]


def test_without_the_right_all_memory_comes_first(lab):
    answer = checkpointed(lab)
    without_rights(lab)
    (lab.work / "go").touch()
    job = lab.restart(CKPT_LAZY="auto")
    assert answer_of(job) == answer
    assert sum("ckpt-restart: rank 0: not lazy: this host" in line for line in job.lines) == 1


def test_always_lazy_or_not_at_all(lab):
    checkpointed(lab)
    without_rights(lab)
    done = lab.ckpt("restart", "--lazy=always")
    assert done.returncode != 0
    assert "no lazy restart: this host" in done.stderr


@pytest.mark.parametrize("ranks", [1, 4])
def test_ranks_are_right(lab, native, ranks):
    program = programs.memory(SIZE // ranks, 60, ranks=ranks, pause_us=20000)
    job = lab.start(program)
    job.wait_for(program.progress)
    lab.checkpoint(job)
    job.kill()
    again = lab.restart(CKPT_LAZY="always")
    again.succeed()
    assert lab.answer(program, job, again) == native(program).answer


def test_threads_of_ranks_are_right(lab, native):
    program = programs.threads(400)
    job = lab.start(program)
    job.wait_for(program.progress)
    lab.checkpoint(job)
    job.kill()
    again = lab.restart(CKPT_LAZY="always")
    again.succeed()
    assert lab.answer(program, job, again) == native(program).answer


def test_moved_and_discarded_memory_of_ranks(lab, native):
    """And checkpoints of both kinds while and after it is lazy."""
    program = programs.scattered(SIZE, 300, pause_us=10000)
    job = lab.start(program)
    job.wait_for(program.progress)
    lab.checkpoint(job)
    job.kill()
    again = lab.restart(CKPT_LAZY="always", CKPT_INCREMENTAL="4")
    lab.wait_for_agent(again)
    lab.checkpoint(again)
    again.wait_for(program.progress)
    lab.checkpoint(again)
    again.kill()
    last = lab.restart(CKPT_LAZY="always")
    last.succeed()
    assert lab.answer(program, job, again, last) == native(program).answer


@pytest.mark.parametrize("mpi", [mpis.OPENMPI5, mpis.MPICH], ids=lambda mpi: mpi.name)
def test_other_libraries(tmp_path, native, mpi):
    if not mpi.installed:
        pytest.skip(f"{mpi.name} is not installed (see setup)")
    program = programs.memory(SIZE // 2, 40, pause_us=20000)
    lab = mpis.Crossing(tmp_path, mpi, mpi).lab
    try:
        job = lab.start(program)
        job.wait_for(program.progress)
        lab.checkpoint(job)
        job.kill()
        again = lab.restart(CKPT_LAZY="always")
        again.succeed()
        assert lab.answer(program, job, again) == native(program).answer
    finally:
        lab.close()


def test_encrypted_checkpoint(lab, native, tmp_path):
    key = make_key(tmp_path / "key")
    program = programs.memory(SIZE // 2, 40, pause_us=20000)
    job = lab.start(program, CKPT_KEY=key)
    job.wait_for(program.progress)
    lab.checkpoint(job)
    job.kill()
    again = lab.restart(CKPT_LAZY="always", CKPT_KEY=key)
    again.succeed()
    assert lab.answer(program, job, again) == native(program).answer


def test_ckpt_run_restarts_lazily_again(lab):
    """It also restarts a program that has lost its page server."""
    (lab.work / "go").touch()
    answer = [line for line in non_mpi.lines_of(*words(lab, "none")) if "step" not in line]
    (lab.work / "go").unlink()
    fault = {"CKPT_FAULT": "pages-on-demand"}
    job = non_mpi.start(lab, *words(lab, "none"), options=["--lazy=always"], **fault)
    job.wait_for("^step")
    non_mpi.process_of(lab, job)
    non_mpi.save(lab)
    non_mpi.kill(lab, job)
    job.wait_for("restart 1 of")
    (server,) = wait_for_page_servers(lab, job)
    processes.kill(server)
    job.wait_for("signal 9 has ended the page server")
    job.wait_for("restart 2 of")
    wait_for_page_servers(lab, job)
    (lab.work / "go").touch()
    assert answer_of(job) == answer


def test_damage_ends_all_ranks(lab):
    program = programs.memory(SIZE, 10**6, pause_us=1000)
    job = lab.start(program, CKPT_CODEC="none")
    job.wait_for(program.progress)
    lab.checkpoint(job)
    job.kill()
    damage(lab)
    again = lab.restart(CKPT_LAZY="always")
    assert again.finish() != 0
    assert any("cannot go on" in line and "chunk" in line for line in again.lines), again.lines


def test_gc_keeps_the_checkpoint_of_a_lazy_program(lab):
    answer = checkpointed(lab, count=2)
    first, second = [entry["name"] for entry in lab.checkpoints()]
    job = lab.restart(first, **ON_DEMAND)
    wait_for_page_servers(lab, job)
    assert lab.ckpt("gc", "--keep", "1").returncode == 0
    assert [entry["name"] for entry in lab.checkpoints()] == [first, second]
    (lab.work / "go").touch()
    assert answer_of(job) == answer
    assert lab.ckpt("gc", "--keep", "1").returncode == 0
    assert [entry["name"] for entry in lab.checkpoints()] == [second]


def test_wrong_value(lab):
    with pytest.raises(JobError):
        lab.restart(CKPT_LAZY="perhaps").succeed()
