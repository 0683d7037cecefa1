# SPDX-License-Identifier: BSD-3-Clause
"""`ckpt run --protocol independent`: a rank is killed at each place of ckpt/rank_faults.h. It is
replayed, nothing is lost or repeated, and no other rank rolls back.

Each place is tested once; with CKPT_TEST_FULL=1 also in other ranks, at other times.
"""

import os
import re

import pytest

from ckpttest import replays, windows
from ckpttest.settings import FULL, TOP

# The ranks wait without pause: parallel tests would take each other's processor time.
pytestmark = pytest.mark.xdist_group("independent")

RANKS = 3
JOB = f"faults-{os.getpid()}"  # ckpt finds jobs of a name wherever they are
DIRECT = ("--windows", "direct")

# (steps, size, way) of programs that often pass the places.
COUNTS = ("batches", 400, 500, ["--mode=counts"])
SUMS = ("batches", 400, 500, ["--mode=sums"])
TABLE = ("hash_table", 150, 2000, [])
QUEUE = ("work_queue", 300, 32, [])
LOCKS = ("stencil", 3000, 256, ["--mode=lock"])
FENCES = ("stencil", 3000, 256, ["--mode=fence"])
COUNTER = ("shared_counter", 2000, 50, [])
BYTES = ("shared_bytes", 3000, 3000, [])

# (place, program, options, how often the rank passes the place before)
CASES = [
    # Exactly once: the rank dies before it sends, after an application that no other rank knows of,
    # and later.
    ("rank-before-delivery", COUNTS, (), 777),
    ("rank-at-order", COUNTS, (), 778),
    ("rank-at-publish", COUNTS, (), 779),
    ("rank-after-apply", COUNTS, (), 780),
    ("rank-after-delivery", COUNTS, (), 781),
    # In the same order: the last bits of a sum depend on it.
    ("rank-after-apply", SUMS, (), 300),
    ("rank-before-place", LOCKS, DIRECT, 100),
    ("rank-after-place", LOCKS, DIRECT, 101),
    # A replayed fetch returns the earlier value, whatever the memory now holds.
    ("rank-at-answer", TABLE, (), 1000),
    ("rank-at-publish", TABLE, (), 1001),
    ("rank-after-answer", TABLE, (), 1002),
    ("rank-after-answer", QUEUE, (), 200),
    # A lock is held until its owner is back.
    ("rank-with-lock", LOCKS, (), 100),
    ("rank-before-unlock", COUNTER, (), 1000),
    ("rank-at-unlock", COUNTER, (), 1001),
    ("rank-at-capture", BYTES, (), 100),
    ("rank-at-barrier", FENCES, (), 500),
    # The rank dies in its independent checkpoint.
    ("rank-at-copy", LOCKS, (), 1),
    ("rank-at-kept", LOCKS, (), 1),
    ("rank-at-trim", LOCKS, (), 1),
]
VICTIMS = (1, 0) if FULL else (1,)
TIMES = (1, 3) if FULL else (1,)


@pytest.fixture(name="expected", scope="module")
def without_failures(tmp_path_factory):
    return windows.results_in_one_rank(tmp_path_factory)


def name_of(value):
    """Returns the test id of a parameter."""
    return value[0] if isinstance(value, tuple) and value else None


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("place, program, options, count", CASES, ids=name_of)
def test_killed(lab, expected, place, program, options, count, victim, times):
    fault = f"{place}:{count * times}@{victim}"
    roll_back = replays.RollBack(lab, JOB, program, RANKS, *options, CKPT_FAULT=fault)
    name, steps, size, _ = program
    roll_back.finish(victim, expected(name, steps, size))


@pytest.mark.parametrize("victim", [1, 0], ids=["origin", "target"])
def test_tickets(lab, expected, victim):
    """The tickets of a lock made of fetch-and-op in the memory of rank 0. Each is given once and
    none is left out, otherwise the queue would not end."""
    fault = f"rank-after-answer:400@{victim}"
    roll_back = replays.RollBack(lab, JOB, QUEUE, RANKS, CKPT_FAULT=fault)
    roll_back.finish(victim, expected(*QUEUE[:3]))


def test_all_places_are_tried():
    text = (TOP / "libckpt/include/ckpt/rank_faults.h").read_text("utf-8")
    places = re.findall(r'X\(\w+, "(.*)"\)', text)
    assert sorted(places) == sorted({place for place, *_ in CASES})
