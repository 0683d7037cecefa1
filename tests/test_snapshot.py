# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that go on before they have been written: the image has their state at the stop, and no
copy stays."""

import json
import time

import pytest
from test_agent import survive_agent_in_a_checkpoint
from test_probes import ROUNDS, Gate

from ckpttest import processes, programs
from ckpttest.settings import FULL, TIMEOUT

METHODS = ["memory", "cow", "cll"]

# Features that a copy of a process might lack, or share with it.
PROBES = [
    "deleted_file",
    "file_rewrite",
    "memory_file",
    "memory_kinds",  # some of it not inherited
    "pipe_between_ranks",
    "shared_between_ranks",
    "shared_with_rank",
    "socket_traffic",
    "thread_multiple",
    "threads_joined",
    "window_shared",
]

# Faults that end the agent, with counts that it reaches in the second checkpoint.
FATAL = ["agent-at-frozen:3", "agent-during-capture:3", "image-before-rename:2"]


def wait_for_the_end_of_copies(lab):
    """The copies end by themselves soon."""
    deadline = time.monotonic() + TIMEOUT
    while found := processes.frozen_copies(lab.work):
        assert time.monotonic() < deadline, f"still there: {found}"


@pytest.mark.parametrize("protocol", ["sns", "cl", "ns"])
@pytest.mark.parametrize("method", METHODS)
def test_memory_is_as_it_was(lab, native, method, protocol):
    """Ranks write all over their memory during the checkpoint, and check it."""
    program = programs.memory(48, 400)
    job = lab.start(program, CKPT_SNAPSHOT=method, CKPT_PROTOCOL=protocol)
    for _ in range(3):
        job.wait_for(program.progress)
        saved = lab.checkpoint(job)
        assert (saved["snapshot"], saved["standing"]) == (method, 0), saved
    wait_for_the_end_of_copies(lab)
    job.kill()
    again = lab.restart()
    again.succeed()
    assert lab.answer(program, job, again) == native(program).answer


def test_written_at_a_limited_rate(lab):
    """The program computes meanwhile; the first chunk is not delayed."""
    rate, chunk = 16 << 20, 1 << 20
    job = lab.start(
        programs.memory(8, 10**6),
        CKPT_SNAPSHOT="cow",
        CKPT_CODEC="none",
        CKPT_WRITE_RATE="16M",
    )
    job.wait_for("^step")
    saved = lab.checkpoint(job)
    assert saved["bytes"] > 2 * (8 << 20)
    assert saved["timings"]["total"] > (saved["bytes"] - 2 * chunk) / rate
    assert saved["timings"]["stop"] < saved["timings"]["total"] / 2


@pytest.mark.waiting
@pytest.mark.parametrize("name", PROBES)
@pytest.mark.parametrize("method", METHODS)
def test_restarts_in_a_row(lab, method, name):
    gate = Gate(lab, name, CKPT_SNAPSHOT=method)
    for _ in range(ROUNDS if FULL else 1):
        saved = lab.checkpoint(gate.job)
        all_stand = method == "cow" and name == "memory_kinds"
        assert saved["standing"] == (saved["rank_count"] if all_stand else 0), saved
        gate.kill_and_restart()
    gate.open()


@pytest.mark.waiting
@pytest.mark.parametrize("fault", FATAL)
def test_agent_dies_beside_copies(lab, fault):
    """The copies end with the agent; the program goes on, and the next checkpoint works."""
    survive_agent_in_a_checkpoint(
        lab,
        lambda: wait_for_the_end_of_copies(lab),
        CKPT_FAULT=fault,
        CKPT_SNAPSHOT="cow",
    )


def test_a_copy_that_is_killed_harms_nobody(lab, native):
    """When memory runs out, the kernel kills a copy first. Its rank may still stand still and is
    then read itself; otherwise the checkpoint fails."""
    program = programs.memory(200, 100)
    job = lab.start(program, CKPT_SNAPSHOT="cow")
    job.wait_for(program.progress)
    request = lab.ckpt_in_background("checkpoint", job.pid, "--json")
    deadline = time.monotonic() + TIMEOUT
    while not (copies := processes.frozen_copies(lab.work)):
        assert time.monotonic() < deadline
    for copy in copies:
        processes.kill(copy)
    stdout, stderr = request.communicate(timeout=TIMEOUT)
    if request.returncode == 0:
        assert json.loads(stdout)["standing"] > 0, stdout
    else:
        assert "is gone" in stderr, stderr
    assert lab.checkpoint(job)["standing"] == 0
    job.kill()
    again = lab.restart()
    again.succeed()
    assert lab.answer(program, job, again) == native(program).answer
