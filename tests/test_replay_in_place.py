# SPDX-License-Identifier: BSD-3-Clause
"""`ckpt run --protocol independent --keep-copies yes`: a killed rank is replayed beside the others,
which stay processes (docs/recovery.md). The result equals that of a run without failures.

With CKPT_TEST_FULL=1, each program runs with all of its options, and without mpirun and with it."""

import random
import re

import pytest

from ckpttest import non_mpi, recoveries, replays
from ckpttest.mpis import OPENMPI4, OPENMPI5
from ckpttest.settings import FULL

# The ranks wait without pause: parallel tests would take each other's processor time.
pytestmark = pytest.mark.xdist_group("independent")

MPIS = [mpi for mpi in (OPENMPI4, OPENMPI5) if mpi.installed]
RANKS = 3
OFTEN = ("stencil --mode=lock", "work_queue --shared", "hash_table", "shared_bytes")
PROGRAMS = [way for way in replays.WAYS if FULL or way in OFTEN]


@pytest.fixture(name="lab", params=[pytest.param(mpi, id=mpi.name) for mpi in MPIS])
def lab_with_library(request, tmp_path):
    lab = recoveries.make_lab(tmp_path, request.param, CKPT_KEEP_COPIES="yes")
    yield lab
    lab.close()


@pytest.mark.parametrize("mpirun", [False, True], ids=["alone", "mpirun"])
def test_any_rank_is_replayed(lab, tmp_path, mpirun):
    """One after the other is killed. The survivors and the agent are the same processes as before;
    no survivor repeats a step, and a replayed rank sees what it has seen."""
    way = "stencil --mode=lock"
    run = replays.RunInPlace(lab, way, random.Random(way), mpirun)
    for victim in (0, 1, 2, 1):
        before = non_mpi.wait_until(run.job, lambda: non_mpi.status(lab))
        assert run.kill_once(victim), "\n".join(["it ended too soon", *run.job.lines])
        after = non_mpi.wait_until(run.job, lambda: run.all_ranks(lambda _: True))
        for rank in before["ranks"]:
            is_same = after[rank["rank"]] == rank["pid"]
            assert is_same == (rank["rank"] != victim), (before["ranks"], after)
        assert non_mpi.status(lab)["agent_pid"] == before["agent_pid"]
    run.check(replays.expected_of(tmp_path / "one", way))
    assert [kill.rank for kill in run.kills if not kill.why_not] == [0, 1, 2, 1]


@pytest.mark.parametrize("way", PROGRAMS)
def test_programs_are_replayed(tmp_path, way):
    lab = recoveries.make_lab(tmp_path / "job", OPENMPI4, CKPT_KEEP_COPIES="yes")
    try:
        run = replays.RunInPlace(lab, way, random.Random(way), False)
        while len(run.kills) < 3 and run.kill_once():
            pass  # it may end before the last kill
        run.check(replays.expected_of(tmp_path / "one", way))
    finally:
        lab.close()
    assert any(not kill.why_not for kill in run.kills), run.kills


FAULTS = {  # what follows the kill, and whether the salvage of before does
    "copy-refuses": (r"warning: rank 1 is not replayed in place: an injected fault", True),
    "agent-at-thaw": (r"the agent has died", False),
    "agent-at-change": (r"the agent has died", False),
    # Its connection may have ended before the order is sent, or after it.
    "survivor-at-change": (r"rank 0 (has died meanwhile|cannot be told to change worlds)", False),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_failure_is_answered_by_a_restart(tmp_path, fault):
    """Until the copy lives, survivors are saved as they are, and lose nothing."""
    lab = recoveries.make_lab(tmp_path / "job", OPENMPI4, CKPT_KEEP_COPIES="yes")
    why, is_salvaged = FAULTS[fault]
    way = "stencil --mode=lock"
    try:
        run = replays.RunInPlace(lab, way, random.Random(fault), False, CKPT_FAULT=fault)
        assert run.kill_once(1), "\n".join(["it ended too soon", *run.job.lines])
        run.finish(replays.expected_of(tmp_path / "one", way))
        assert recoveries.nobody_is_left(lab, run.job)
    finally:
        lab.close()
    text = "\n".join(run.job.lines)
    log = "".join(path.read_text("utf-8") for path in lab.store.glob("*/ckptd-*.log"))
    assert re.search(why, text + log), text
    assert not replays.IN_PLACE.search(text), text
    assert bool(re.search("it is replayed, the others are saved", text)) == is_salvaged, text
    assert len([line for line in run.job.lines if replays.RESTART.match(line)]) == 1, text
