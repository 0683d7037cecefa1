# SPDX-License-Identifier: BSD-3-Clause
"""The long campaigns, each cut down to what fits into a test run."""

import random

import pytest

from ckpttest import cuts, cycles, endurance, failing, programs, realprograms, store_crashes

SEED = random.randrange(1000000)  # a failing test shows it


@pytest.mark.parametrize("protocol", cuts.PROTOCOLS)
def test_cuts(tmp_path, protocol):
    totals = cuts.run_cuts(tmp_path, 5, SEED, protocol=protocol)
    assert totals["cuts"] == 5
    assert totals["messages across the cuts"] > 0
    assert totals["moved cuts found wrong"] > 0


@pytest.mark.parametrize("ranks, count, steps", [(2, 3, 15000), (3, 1, 4000)])
def test_cycles(tmp_path, ranks, count, steps):
    program = programs.ring(steps, ranks)
    totals = cycles.run_cycles(
        tmp_path, count, SEED, program, cycles.WAYS["each"]
    )
    assert totals["right answers"] == count


def test_nonblocking_cycles(tmp_path):
    program = programs.nonblocking(1000, seed=SEED)
    totals = cycles.run_cycles(tmp_path, 2, SEED, program)
    assert totals["right answers"] == 2


MAKES = [programs.traffic, programs.churn, programs.circles, programs.remote]


@pytest.mark.parametrize("make", MAKES)
def test_endurance(tmp_path, make):
    _, _, counts = endurance.run_endurance(tmp_path, make, 30, 3)
    assert counts["checkpoints"] == 30


def test_endurance_of_one_that_waits_outside_of_mpi(tmp_path):
    _, _, counts = endurance.run_endurance(tmp_path, programs.lookout, 5, 4)
    assert counts["checkpoints"] == 5


@pytest.mark.parametrize("kind", realprograms.KINDS)
def test_program(tmp_path, kind):
    assert realprograms.run_kind(tmp_path, kind, 1, SEED)


def test_store_crashes(tmp_path):
    counts = store_crashes.run_crashes(tmp_path, 6, random.Random(SEED))
    assert counts["newest"] > 0 and counts["verified"] > 0


@pytest.mark.skipif(not failing.is_possible(), reason="no mount namespaces for this user")
def test_store_errors(tmp_path):
    """Calls on files fail, too. There are so many calls that some certainly fail."""
    counts = store_crashes.run_crashes(tmp_path, 8, random.Random(SEED), rate=100)
    assert counts["failed calls"] > 0
