# SPDX-License-Identifier: BSD-3-Clause
"""Programs that include ckpt.h, or use it in other languages: what they say about their
checkpoints is heeded, and without ckpt it does nothing."""

import json
import re

import pytest

from ckpttest import alone
from ckpttest.lab import POLL
from ckpttest.programs import Program, ok_line
from ckpttest.settings import APPS, INSTALL, SOURCES

MIB = 1 << 20
SCRATCH = 16 * MIB  # of a rank of steps, excluded; as much again is not
PROTOCOLS = ["sns", "cl", "ns"]
PYTHON = {"PYTHONPATH": str(INSTALL / "share/ckpt/python")}


def steps(mode, count, *more, ranks=2):
    """apps/user/steps.c; about 3 ms a step."""
    return Program("steps", [APPS / "user/steps", mode, count, *more], ranks)


def run_through(lab, program, *, restarts=2, **settings):
    """Each part of a job is saved twice, and killed; its parts."""
    parts = [lab.start(program, **settings)]
    for _ in range(restarts):
        for _ in range(2):
            parts[-1].wait_for(program.progress)
            lab.checkpoint(parts[-1])
        parts[-1].kill()
        parts.append(lab.restart())
    parts[-1].succeed()
    return parts


def excluded(lab):
    """Bytes of the ranks in the newest checkpoint that the programs do not want."""
    ranks = lab.ckpt_json("inspect")["ranks"]
    return [rank["excluded_bytes"] for rank in ranks]


@pytest.mark.parametrize("mode", ["s", "r", "h"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_saved_where_it_wants(lab, native, mode, protocol):
    """At safe points, outside of regions, between hooks; uncompressed, so that what is
    excluded shows."""
    program = steps(mode, 150)
    parts = run_through(lab, program, CKPT_PROTOCOL=protocol, CKPT_CODEC="none")
    assert lab.answer(program, *parts) == native(program).answer
    hooks = 2 if mode == "h" else 0
    assert f"restarts 2, hooks {hooks}" in parts[-1].lines
    assert excluded(lab) == [SCRATCH] * 2
    assert SCRATCH * 2 < lab.checkpoints()[-1]["bytes"] < SCRATCH * 7 // 2


@pytest.mark.parametrize("snapshot", ["stop", "cow"])
def test_what_is_excluded_now_and_then(lab, native, snapshot):
    """In some of the checkpoints of a chain; the others have it."""
    program = steps("sx", 200)
    settings = {"CKPT_INCREMENTAL": "8", "CKPT_SNAPSHOT": snapshot}
    job = lab.start(program, **settings)
    found = set()
    for _ in range(6):
        job.wait_for(program.progress)
        lab.checkpoint(job)
        found.update(excluded(lab))
    job.kill()
    assert found == {0, SCRATCH}
    assert lab.ckpt("verify").returncode == 0
    (name,) = [path.name for path in lab.store.iterdir()]
    for number in (4, 5, 6):
        again = lab.restart(f"{name}/{number}")
        again.succeed()
        assert lab.answer(program, job, again) == native(program).answer


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_asks_itself(lab, protocol):
    """All ranks together, and again after a restart; and one rank, without waiting."""
    program = steps("sa", 220, ranks=3)
    job = lab.start(program, CKPT_PROTOCOL=protocol)
    job.wait_for("^asked 1")
    job.kill()
    again = lab.restart()
    again.wait_for("^asked 2")  # the call comes back a second time
    again.wait_for("^asked 1")
    again.succeed()
    assert [entry["number"] for entry in lab.checkpoints()] == [1, 2]
    lab.start(steps("sn", 220), CKPT_NAME="one").succeed()
    assert len(lab.checkpoints()) == 4


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_waits_for_the_end_of_a_region(lab, protocol):
    gate = lab.directory / "gate"
    job = lab.start(steps("rg", 50, gate, ranks=3), CKPT_PROTOCOL=protocol)
    job.wait_for("^in region")
    saving = lab.ckpt_in_background("checkpoint", job.pid)
    status = {"waits_for": ""}
    while not status["waits_for"]:
        assert job.run_on(POLL) and saving.poll() is None
        (status,) = lab.ckpt_json("status", job.pid)
    assert status["phase"] == "held"
    assert re.search(r"rank \d.*: it is in a no-checkpoint region", status["waits_for"])
    assert "a checkpoint waits: rank" in lab.ckpt("status", job.pid).stdout
    assert not lab.checkpoints()
    gate.touch()
    assert saving.wait(60) == 0, saving.stderr.read()
    job.succeed()
    assert len(lab.checkpoints()) == 1
    saving.communicate()


def test_who_asks_for_it_may_give_up(lab):
    """The program does not stay for a request that nobody waits for."""
    gate = lab.directory / "gate"
    job = lab.start(steps("rg", 50, gate))
    job.wait_for("^in region")
    saving = lab.ckpt_in_background("checkpoint", job.pid)
    alone.wait_until(job, lambda: lab.ckpt_json("status", job.pid)[0]["phase"] == "held")
    saving.kill()
    saving.communicate()
    alone.wait_until(job, lambda: lab.ckpt_json("status", job.pid)[0]["phase"] == "running")
    gate.touch()
    job.succeed()
    assert not lab.checkpoints()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_one_that_is_behind_is_not_waited_for(lab, native, protocol):
    """Safe points at which not all ranks can stay: each needs a message that another
    sends behind its own. The program ends, whatever becomes of the checkpoint."""
    program = steps("su", 60)
    job = lab.start(program, CKPT_PROTOCOL=protocol)
    job.wait_for(program.progress)
    saving = lab.ckpt_in_background("checkpoint", job.pid)
    job.succeed()
    saving.communicate(timeout=60)
    assert lab.answer(program, job) == native(program).answer


@pytest.mark.skipif(not (APPS / "user/phases").exists(), reason="no Fortran compiler")
def test_fortran(lab, native):
    program = Program("phases", [APPS / "user/phases", 150], 2)
    parts = run_through(lab, program)
    assert lab.answer(program, *parts) == native(program).answer
    assert "restarts 2, hooks 2" in parts[-1].lines
    assert min(excluded(lab)) > 8 * MIB - 3 * 4096


def test_python(lab):
    argv = ["/usr/bin/python3", SOURCES / "user/phases.py", 150]
    parts = run_through(lab, Program("phases", argv, 2), restarts=1, **PYTHON)
    assert lab.answer(Program("phases", argv, 2), *parts) == "OK 150"
    assert "restarts 1, hooks 1" in parts[-1].lines


def test_cxx_without_mpi(lab):
    command = [APPS / "threaded/scopes", 330]
    job = alone.start(lab, *command)
    job.wait_for("^asked 1", count=1)
    alone.save_twice_and_kill(lab, job)
    lines = job.succeed()
    assert ok_line(lines, None) == ok_line(alone.lines_of(*command), None)
    assert "restarts 1, hooks 1" in lines
