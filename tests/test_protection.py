# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that are saved behind write protection (cll): they write anywhere, unmap memory, and get
the right answer from each checkpoint."""

import json
import re
from dataclasses import replace

import pytest
from test_agent import agent_of, lose_agent_in_a_checkpoint

from ckpttest import cluster, non_mpi, programs
from ckpttest.settings import APPS

SLOW = {"CKPT_SNAPSHOT": "cll", "CKPT_CODEC": "none", "CKPT_WRITE_RATE": "128M"}
SIZE = 24  # MiB of a rank: saving both takes half a second

# Faults that end the agent, with counts that it reaches in the second checkpoint.
FATAL = ["agent-at-watched:3", "agent-during-capture:3", "image-before-rename:2"]


def log_of(lab):
    (log,) = lab.store.glob("*/ckptd-*.log")
    return log.read_text()


def save_and_restart(lab, native, program, count, **settings):
    """Takes `count` checkpoints and returns their reports; the answer is right from the last
    one."""
    job = lab.start(program, **settings)
    results = []
    for _ in range(count):
        job.wait_for(program.progress)
        results.append(lab.checkpoint(job))
    job.kill()
    again = lab.restart()
    again.succeed()
    assert lab.answer(program, job, again) == native(program).answer
    return results


@pytest.mark.parametrize("protocol", ["sns", "cl", "ns"])
def test_memory_comes_and_goes(lab, native, protocol):
    """The program maps and unmaps memory by calls that ckpt can delay, and the kernel writes into
    the program's memory."""
    program = programs.scattered(SIZE, 1500, pause_us=500)
    saved = save_and_restart(lab, native, program, 2, CKPT_PROTOCOL=protocol, **SLOW)
    for result in saved:
        assert result["snapshot"] == "cll" and result["standing"] == 0
        assert result["cost"]["faults"]["count"] > 0, result
    assert "instead of cll" not in log_of(lab)


def test_pool_is_full(lab, native):
    """The program then waits, which is counted. Nothing is lost."""
    program = programs.memory(SIZE, 400)
    settings = SLOW | {"CKPT_POOL": "64K", "CKPT_GRANULE": "16K"}
    for result in save_and_restart(lab, native, program, 2, **settings):
        faults = result["cost"]["faults"]
        assert 0 < faults["pool_waits"] <= faults["count"], faults
        assert 0 < faults["p50"] <= faults["p99"] <= faults["p999"] <= faults["most"]


def test_free_gives_memory_back(lab, native):
    """ckpt cannot delay free(): it takes the same checkpoint once more, by a copy."""
    # The second failure is followed by two checkpoints by copies, the third one by four.
    program = programs.scattered(4, 800, pause_us=1000, from_libc=1)
    save_and_restart(lab, native, program, 4, **SLOW)
    log = log_of(lab)
    pauses = re.findall("cow instead of cll for ([0-9]+) checkpoints", log)
    assert pauses == ["1", "2", "4"], log
    assert log.count("once more: the program has given back memory") == 3, log


@pytest.mark.skipif(not cluster.is_possible(), reason="nodes need root and network namespaces")
def test_free_gives_memory_back_on_each_of_two_nodes(nodes, tmp_path):
    """The first node that finds out tells the others, so that not each node has to."""
    lab = nodes.lab(tmp_path / "lab")
    try:
        program = programs.scattered(4, 10**6, pause_us=1000, from_libc=1)
        job = lab.start(program, CKPT_NAME="job", CKPT_STAGGER="no", **SLOW)
        job.wait_for(program.progress)
        lab.ckpt_json("checkpoint", "job")
        log = "".join(path.read_text() for path in lab.store.glob("*/ckptd-*.log"))
        assert log.count("once more: ") == 1, log
        assert log.count("cow instead of cll for 1 checkpoints") == 2, log
    finally:
        lab.close()


def test_free_gives_memory_back_in_a_periodic_checkpoint(lab):
    """The next checkpoint is due by then, and does not come in between."""
    program = programs.scattered(4, 10**6, pause_us=1000, from_libc=1)
    job = lab.start(program, CKPT_INTERVAL="1", **SLOW)
    job.wait_for(program.progress)
    agent = agent_of(lab, job)
    saved = lab.checkpoint(job)["number"]
    non_mpi.wait_until(job, lambda: log_of(lab).count("once more: ") >= 2)
    saved = max(saved, *(entry["number"] for entry in lab.checkpoints()))
    non_mpi.wait_until(job, lambda: lab.checkpoints()[-1]["number"] > saved)
    assert agent_of(lab, job) == agent, log_of(lab)


def test_without_userfaultfd(lab, native):
    """As in many containers: each rank reports this once, and checkpoints are taken by a copy."""
    program = programs.memory(8, 1500)
    confined = replace(program, argv=[APPS / "confined", *program.argv])
    for result in save_and_restart(lab, native, confined, 2, **SLOW):
        assert result["standing"] == 0 and result["cost"]["faults"]["count"] == 0
    assert log_of(lab).count("is saved with cow instead of cll") == 2


@pytest.mark.parametrize("fault", FATAL)
def test_agent_dies_while_pages_are_protected(lab, native, fault):
    """The last checkpoint is intact, the next one works."""
    program = programs.memory(8, 1000)
    settings = {"CKPT_FAULT": fault, "CKPT_SNAPSHOT": "cll"}
    job = lose_agent_in_a_checkpoint(lab, program, **settings)
    job.kill()
    again = lab.restart()
    again.succeed()
    assert lab.answer(program, job, again) == native(program).answer


def test_agent_dies_while_a_rank_waits(lab, native):
    """The rank goes on after the agent's death."""
    program = programs.memory(8, 1000)
    job = lab.start(program, CKPT_FAULT="agent-at-fault", **SLOW)
    job.wait_for(program.progress)
    assert lab.ckpt("checkpoint", job.pid).returncode != 0
    job.succeed()
    assert lab.answer(program, job) == native(program).answer


def test_manifest_tells_of_faults(lab):
    job = lab.start(programs.memory(8, 10**6), CKPT_SNAPSHOT="cll")
    job.wait_for("^step")
    told = lab.checkpoint(job)["cost"]["faults"]
    (path,) = lab.store.glob("*/0*/manifest.json")
    assert json.loads(path.read_text())["cost"]["faults"] == told
