# SPDX-License-Identifier: BSD-3-Clause
"""Incremental checkpoints, each with only the pages that changed since the one
before."""

import json
import shutil
from dataclasses import replace

import pytest
from test_agent import survive_agent_in_a_checkpoint

from ckpttest import programs
from ckpttest.settings import APPS

MIB = 1 << 20
SIZE = 24  # MiB of a rank

# Of a thousand pages, written at each step. All steps of a test together change less
# than half of the memory, however many steps lie between two checkpoints.
FEW = 1

# Faults that end the agent, with counts that it reaches in the second checkpoint.
FATAL = ["agent-during-capture:3", "image-before-rename:2"]


def bases(lab):
    """Returns the base of each checkpoint, by number; 0 for a full checkpoint."""
    found = {}
    for path in sorted(lab.store.glob("*/0*/manifest.json")):
        manifest = json.loads(path.read_text())
        found[manifest["number"]] = max(p.get("base", 0) for p in manifest["pieces"])
    return found


def save(lab, job, program, count):
    """Takes `count` checkpoints, with some steps in between; returns their sizes."""
    sizes = []
    for _ in range(count):
        job.wait_for(program.progress)
        sizes.append(lab.checkpoint(job)["bytes"])
    return sizes


@pytest.mark.parametrize(
    "snapshot, protocol", [("stop", "sns"), ("memory", "cl"), ("cow", "ns")]
)
def test_each_of_a_chain_can_be_restarted(lab, native, snapshot, protocol):
    hurry = lab.directory / "hurry"
    program = programs.scattered(SIZE, 600, per_mille=FEW, pause_us=20000, hurry=hurry)
    settings = {"CKPT_SNAPSHOT": snapshot, "CKPT_PROTOCOL": protocol}
    job = lab.start(program, CKPT_INCREMENTAL="8", CKPT_CODEC="lz4", **settings)
    sizes = save(lab, job, program, 5)
    job.kill()
    hurry.touch()
    assert bases(lab) == {1: 0, 2: 1, 3: 2, 4: 3, 5: 4}
    assert sizes[0] > SIZE * MIB * 2 * 3 // 4
    assert min(sizes[1:]) < sizes[0] / 2, sizes
    assert lab.ckpt("verify").returncode == 0
    answer = native(program).answer
    for number in range(1, 6):
        again = lab.restart(f"{job_name(lab)}/{number}")
        again.succeed()
        assert lab.answer(program, job, again) == answer, number


def job_name(lab):
    (name,) = [path.name for path in lab.store.iterdir()]
    return name


@pytest.mark.busy  # the chain is folded when the processors are idle
def test_chain_is_folded(lab, native):
    """The agent folds the chain in the background, again and again. It removes files
    that no restart needs, and the remaining checkpoints can be restarted."""
    program = programs.scattered(8, 1200, pause_us=4000)
    limit = 4
    job = lab.start(program, CKPT_INCREMENTAL=str(limit), CKPT_KEEP="1")
    save(lab, job, program, 1)
    (log,) = lab.store.glob("*/ckptd-*.log")
    while log.read_text().count("has folded its piece") < 2:
        save(lab, job, program, 1)
        assert len(lab.checkpoints()) <= limit + 2
    lab.kill_and_wait_for_agent(job)
    listed = lab.ckpt_json("list")
    assert {entry["state"] for entry in listed} == {"committed"}
    assert len(list(lab.store.glob("*/0*/whole-*.h5"))) <= 1
    assert lab.ckpt("verify").returncode == 0
    again = lab.restart()
    again.succeed()
    assert lab.answer(program, job, again) == native(program).answer


def test_by_content(lab, native):
    """Where the process may not use userfaultfd, the agent compares pages."""
    hurry = lab.directory / "hurry"
    program = programs.scattered(SIZE, 300, per_mille=FEW, pause_us=20000, hurry=hurry)
    confined = replace(program, argv=[APPS / "confined", *program.argv])
    job = lab.start(confined, CKPT_INCREMENTAL="8")
    sizes = save(lab, job, program, 3)
    job.kill()
    hurry.touch()
    (log,) = lab.store.glob("*/ckptd-*.log")
    assert "by comparing contents: it has no userfaultfd" in log.read_text()
    assert bases(lab) == {1: 0, 2: 1, 3: 2}
    assert min(sizes[1:]) < sizes[0] / 2, sizes
    again = lab.restart()
    again.succeed()
    assert lab.answer(program, job, again) == native(program).answer


def test_missing_base_is_told(lab):
    program = programs.scattered(4, 10**6)
    job = lab.start(program, CKPT_INCREMENTAL="4")
    save(lab, job, program, 3)
    job.kill()
    shutil.rmtree(lab.store / job_name(lab) / "000002")
    listed = {entry["number"]: entry["state"] for entry in lab.ckpt_json("list")}
    assert listed == {1: "committed", 3: "damaged"}
    refused = lab.ckpt("restart", f"{job_name(lab)}/3")
    assert refused.returncode != 0
    assert "made on top of checkpoint 2, which is missing" in refused.stderr


@pytest.mark.parametrize("fault", FATAL)
def test_agent_dies(lab, fault):
    """The next agent knows nothing of changes: its first checkpoint is full."""
    survive_agent_in_a_checkpoint(lab, CKPT_FAULT=fault, CKPT_INCREMENTAL="4")
    assert set(bases(lab).values()) == {0}


def test_a_failed_one_is_no_base(lab, native):
    """Pages that changed for the failed checkpoint are also in the next one."""
    hurry = lab.directory / "hurry"
    program = programs.scattered(SIZE, 600, pause_us=20000, hurry=hurry)
    job = lab.start(program, CKPT_INCREMENTAL="4", CKPT_FAULT="image-write-enospc:40")
    sizes, failures = [], 0
    while len(sizes) < 3 or failures == 0:
        job.wait_for(program.progress)
        done = lab.ckpt("checkpoint", job.pid, "--json")
        failures += done.returncode != 0
        if done.returncode == 0:
            sizes.append(json.loads(done.stdout)["bytes"])
    assert failures == 1
    job.kill()
    hurry.touch()
    again = lab.restart()
    again.succeed()
    assert lab.answer(program, job, again) == native(program).answer
