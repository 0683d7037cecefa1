# SPDX-License-Identifier: BSD-3-Clause
"""benchmarks/reproduce: its conclusions from the numbers of 1993 and of today."""

import subprocess
import sys
from dataclasses import replace

import pytest

from ckpttest.settings import TOP

sys.path.append(str(TOP / "benchmarks"))

from reproduction import (  # noqa: E402  (needs the path)
    costs,
    dissertation,
    explanations,
    interference,
    judging,
    page,
    plan,
    subjects,
    today,
)
from reproduction.costs import Quantity, Way  # noqa: E402

MIB = 1 << 20
SCALE = subjects.Scale("quick", 2, 1, 256 * MIB, 256 * MIB, 0.9, 2, 1, 5)
SUBJECTS = subjects.all_of(SCALE)
FACTS = {"processor": "P", "processors": 2, "commit": "c"}


def quantity(value, noise=0.0):
    return Quantity(value, value, value, noise)


# --- costs from times


def test_overhead_and_concurrency():
    assert costs.overhead(12.0, 10.0, 4) == 0.5
    assert costs.concurrency(2.0, 0.5) == 0.75


def test_median_and_noise():
    assert Quantity.of([1.0, 5.0, 2.0]) == Quantity(2.0, 1.0, 5.0, 2.0)
    assert Quantity.of([1.0, 3.0], noise=0.5).noise == 0.5


def test_what_differs_by_less_than_the_noise_is_not_compared():
    assert costs.is_less(quantity(1), quantity(2)) is True
    assert costs.is_less(quantity(2), quantity(1)) is False
    assert costs.is_less(quantity(1), quantity(2, noise=1.5)) is None
    assert costs.is_less(quantity(1), quantity(1)) is False
    assert costs.is_less(quantity(3), quantity(2), factor=2) is True
    assert costs.is_less(None, quantity(2)) is None


def saved(seconds, protocol="sns", snapshot="stop", stop=0.01, **more):
    """Returns the output of `ckpt checkpoint`, as far as it is read."""
    return {
        "bytes": 1000,
        "protocol": protocol,
        "snapshot": snapshot,
        "timings": {"total": seconds},
        "cost": {"stood_still": {"most": stop}, **more},
    }


def run_of(kind, workload, way, seconds, checkpoints=(), repetition=0, group=0):
    run = plan.Run(kind, workload, way, repetition, group)
    return {**run.as_data(), "seconds": seconds, "checkpoints": list(checkpoints)}


def test_costs_of_runs():
    way = Way("cl", "memory")
    two = [saved(0.2, "cl", "memory"), saved(0.4, "cl", "memory")]
    runs = [
        run_of("without", "gauss", Way("cl"), 2.0),
        run_of("saved", "gauss", way, 2.6, two),
        run_of("without", "gauss", Way("cl"), 2.2, repetition=1),
        run_of("saved", "gauss", way, 2.6, two, repetition=1),
    ]
    data = {"runs": runs, "sessions": [FACTS]}
    found = today.costs(data, SUBJECTS).of("gauss", "cl", "memory")
    assert found.time == Quantity(pytest.approx(0.3), 0.2, 0.4, pytest.approx(0.1))
    assert found.overhead.value == pytest.approx(0.25)
    assert found.overhead.least == pytest.approx(0.2)
    assert found.overhead.noise == pytest.approx(0.05), "half the spread, of each"
    assert found.concurrency() == pytest.approx(1 - 0.25 / 0.3)
    runs[0]["others"] = runs[3]["others"] = 4.0
    found = today.costs(data, SUBJECTS).of("gauss", "cl", "memory")
    assert found.overhead.noise == pytest.approx(1.0), "of two processors, of each"


def test_checkpoints_taken_in_another_way_do_not_count():
    data = {
        "runs": [
            run_of("saved", "gauss", Way("ns"), 2.0, [saved(0.1, "ns"), saved(0.1)]),
            run_of("saved", "gauss", Way("cl"), 2.0, [saved(0.1, "cl")]),
        ],
        "sessions": [FACTS],
    }
    assert set(today.costs(data, SUBJECTS).table) == {("gauss", Way("cl"))}
    assert [run["way"]["protocol"] for run in today.instead(data)] == ["ns"]


def test_page_faults_are_read_where_ckpt_tells_of_them():
    told = {"count": 7, "pool_waits": 1, "p50": 1e-5, "p99": 1e-4, "p999": 0.1, "most": 0.2}
    assert today.fault_data(saved(0.1, snapshot="cll")) is None
    assert today.fault_data(saved(0.1, snapshot="cll", faults=told)) == told
    assert today.fault_data(saved(0.1, snapshot="cow", faults=told)) is None


def test_the_time_of_others_is_not_our_own(monkeypatch):
    for name, values in (("_busy", [10.0, 16.0]), ("_own", [4.0, 7.0])):
        monkeypatch.setattr(interference, name, iter(values).__next__)
    meter = interference.Meter()
    meter.agents = 1.0
    assert meter.seconds() == 2.0


def test_processor_time_of_those_that_have_ended_is_known():
    before = interference._own()  # pylint: disable=protected-access
    spin = "import time\nwhile time.process_time() < 0.2: pass"
    subprocess.run([sys.executable, "-c", spin], check=True)
    assert interference._own() - before >= 0.2  # pylint: disable=protected-access


# --- 1993


def test_the_numbers_of_1993_are_all_there():
    found = dissertation.costs()
    for number in range(1, 16):
        rows = dissertation.rows(f"C.{number}")
        assert len(rows) == len(costs.WAYS_1993) == 20
    instances = {key[0] for key in found.table if key[0].startswith("merge_sort")}
    assert len(instances) == len(dissertation.heaps()) == 7
    assert found.time("LARGE-IND-RAND", "ns", codec=costs.COMPRESSED).value == 52.82
    assert found.overhead("equations", "ns", "memory", costs.COMPRESSED, True).value == 68.99
    assert found.of("merge_sort-12.751", method="cow").overhead is None
    assert found.of("merge_sort-0.789", method="cll").concurrency() == pytest.approx(
        1 - 0.60 / 5.54
    )


@pytest.mark.parametrize("one", page.CONCLUSIONS, ids=lambda one: one.key)
def test_each_rule_holds_for_1993(one):
    verdict = judging.judge(one, dissertation.costs()).verdict
    assert verdict == (judging.NOT_MEASURED if one.key == "cow-stop" else judging.AGREES)
    assert judging.judge(one, costs.Costs("nothing")).verdict == judging.NOT_MEASURED


def turned_round(found):
    """Returns costs with the opposite meaning: long times become short ones."""

    def turned(one):
        return one and quantity(1000 / max(one.value, 1e-9))

    table = {
        key: costs.Cost(
            turned(cost.time),
            turned(cost.overhead),
            tuple(1 / stop for stop in cost.stops),
        )
        for key, cost in found.table.items()
    }
    other = costs.Costs("opposite", table, found.megabytes)
    other.recovery = {
        key: (one, turned(two)) for key, (one, two) in found.recovery.items()
    }
    return other


# Statements that two costs are about equal, or that one is not too large, also hold for the
# opposite.
SYMMETRIC = {"equal", "optimal", "heap-only", "memory-large", "ns-best", "cow-stop", "faults"}


@pytest.mark.parametrize(
    "one",
    [one for one in page.CONCLUSIONS if one.key not in SYMMETRIC],
    ids=lambda one: one.key,
)
def test_each_rule_can_fail(one):
    opposite = turned_round(dissertation.costs())
    assert judging.judge(one, opposite).verdict == judging.DIFFERS


@pytest.mark.parametrize(
    "one",
    [one for one in page.CONCLUSIONS if one.key in SYMMETRIC - {"cow-stop", "faults"}],
    ids=lambda one: one.key,
)
def test_rules_about_what_is_near_can_fail(one):
    other = dissertation.costs()
    worse = {"equal": "cl", "ns-best": "ns", "memory-large": "stop", "optimal": "cll"}
    table = {}
    for (workload, way), cost in other.table.items():
        is_worse = worse.get(one.key) in (way.protocol, way.method)
        is_worse |= workload in dissertation.THREADED
        factor = 3 if is_worse else 1
        added = cost.overhead and quantity(cost.overhead.value * factor)
        table[workload, way] = replace(
            cost, time=quantity(cost.time.value * factor), overhead=added
        )
    changed = costs.Costs("other", table, other.megabytes, other.recovery)
    assert judging.judge(one, changed).verdict == judging.DIFFERS


def test_a_rule_needs_enough_that_is_not_noise():
    def conclusion(*comparisons):
        return judging.Conclusion("", (), "", "", lambda _: comparisons)

    def verdict(*comparisons):
        return judging.judge(conclusion(*comparisons), None).verdict

    assert verdict() == judging.NOT_MEASURED
    assert verdict(True, None, None, None) == judging.UNDECIDED
    assert verdict(True, True, True, False) == judging.AGREES
    assert verdict(True, True, False, None) == judging.DIFFERS


def test_reasons_belong_to_conclusions():
    assert set(explanations.REASONS) <= {one.key for one in page.CONCLUSIONS}
