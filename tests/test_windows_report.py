# SPDX-License-Identifier: BSD-3-Clause
"""The report that benchmarks/run-windows makes from results that are known here."""

import sys

import pytest

from ckpttest.settings import TOP

sys.path.append(str(TOP / "benchmarks"))

import windows_report  # noqa: E402  (needs the path)


def sample(seconds, log=1_000_000, copies=2, logging=0.01, control=1000):
    """A sample of two ranks, which have logged a hundred megabytes."""
    rank = {
        "kept": 7,
        "log_bytes": log,
        "logged_bytes": 100_000_000,
        "trimmed_bytes": 75_000_000,
        "payload_bytes": 50_000_000,
        "control_bytes": control,
        "logging_ns": logging * seconds * 1e9,
        "keeping_ns": 0.02 * seconds * 1e9,
    }
    return {"seconds": seconds, "copies": copies, "ranks": [rank, rank]}


def counted(*samples):
    return {"window_bytes": 2_500_000, "samples": list(samples)}


def logs(**settings):
    """Returns {quantity: its row} of Barnes."""
    program = {"counted": counted(sample(5), sample(10, **settings))}
    return {row[1]: row for row in windows_report.log_rows({"Barnes": program})}


def test_overhead_is_of_the_same_round():
    seconds = {"plain": [1, 2, 4], "ckpt": [1.1, 2.2, 4.4], "independent": [1.5, 3, 6]}
    (row,) = windows_report.overhead_rows({"Barnes": {"seconds": seconds}})
    assert row[4:7] == [
        "+10.0 % (+10.0 % .. +10.0 %)",
        "+50.0 % (+50.0 % .. +50.0 %)",
        "+36.4 % (+36.4 % .. +36.4 %)",
    ]
    assert row[7:] == ["+6.8 %", "+61 %"]


def test_shares_are_of_the_time_and_of_the_payload():
    found = logs()
    assert found["logging, of the time"][2:] == ["1.00 %", "0.97 %", "5 %: met"]
    assert found["checkpoints, of the time"][2] == "2.00 %"
    assert found["control, of the payload"][2:] == ["0.0020 %", "0.15 %", "0.25 %: met"]
    assert found["checkpoints kept at a time (W)"][2:] == [1, 3, "4: met"]
    assert found["discarded"][2:4] == ["75.00 %", "75.70 %"]


@pytest.mark.parametrize(
    "quantity, settings",
    [
        ("logging, of the time", {"logging": 0.06}),
        ("control, of the payload", {"control": 200_000}),
        ("checkpoints kept at a time (W)", {"copies": 9}),
    ],
)
def test_an_aim_can_be_missed(quantity, settings):
    assert logs(**settings)[quantity][-1].endswith(": missed")


def test_waiting_is_more_than_in_the_same_round():
    """The waiting time excludes independent checkpoints."""
    runs = {
        "plain": [(0.1, 0), (0.2, 0)],
        "each by itself": [(0.32, 0.02), (0.43, 0.03)],
        "behind one barrier": [(0.17, 0.02), (0.27, 0.02)],
    }
    shares = {
        way: [{"all": everything, "own": own} for everything, own in rounds]
        for way, rounds in runs.items()
    }
    rows = list(windows_report.barrier_rows(shares))
    assert [row[4].split()[0] for row in rows] == ["+0.0", "+20.0", "+5.0"]
    assert [row[5] for row in rows] == ["12 %", "28 %", "-"]


def test_growing_logs_are_seen():
    steady = counted(*(sample(second) for second in range(1, 9)))
    growing = counted(*(sample(second, log=second * 10**6) for second in range(1, 9)))
    runs = {name: {"steps": 8, "counted": one}
            for name, one in [("steady", steady), ("growing", growing)]}
    rows = [row[-3:] for row in windows_report.bound_rows(runs)]
    assert rows == [["1.00", "1.00", "+0.0 %"], ["5.00", "8.00", "+36.4 %"]]


def operations(*ways):
    """Returns results of one round: each way takes a nanosecond, or a microsecond, longer than the
    previous."""
    return {
        "put_8": {way: [(0, (1 + i) * 1e-9)] for i, way in enumerate(ways)},
        "put_stream_1000": {way: [(0, (1 + i) * 1e-6)] for i, way in enumerate(ways)},
    }


@pytest.mark.parametrize("ways", [["plain", "ckpt", "independent"],
                                  ["plain", "ckpt", "independent", "direct"]],
                         ids=["an older file", "all"])
def test_operations_are_compared_with_plain_ones(ways):
    """The report shows differences of latencies and ratios of bandwidths; headers are as long as
    rows."""
    measured = operations(*ways)
    names = ["plain", "ckpt", "staged", "direct"][: len(ways)]
    header, (row,) = windows_report.latency_header(measured), windows_report.latency_rows(measured)
    assert header[1:] == [*names, *(f"{name} adds" for name in names[1:])]
    assert row[0] == "put_8" and len(row) == len(header)
    assert [cell.split(" (")[0] for cell in row[1 + len(ways) :]] == [
        "+1 ns", "+2 ns", "+3 ns"][: len(ways) - 1]
    header, (row,) = windows_report.stream_header(measured), windows_report.stream_rows(measured)
    assert header[1:] == [*names, *(f"{name} to plain" for name in names[2:])]
    assert row[0] == "put_1000" and len(row) == len(header)
    rates = ["1000 MB/s", "500 MB/s", "333 MB/s", "250 MB/s"][: len(ways)]
    ratios = ["0.33", "0.25"][: len(ways) - 2]
    assert [cell.split(" (")[0] for cell in row[1:]] == rates + ratios
