# SPDX-License-Identifier: BSD-3-Clause
"""calibrate.py - the simulator, with the times of real checkpoints by Sync-and-Stop,
beside real checkpoints."""

import json
import statistics
import subprocess

import protocols
import report
from ckpttest import table
from ckpttest.settings import BUILD

IMAGE = 1e6  # bytes; what counts is the time that one takes
ROUNDS = 100.5  # before the request

HEADER = [
    "protocol",
    "ranks",
    "pattern",
    "protocol's messages: real",
    "simulated",
    "a rank stands still: real",
    "simulated",
    "checkpoint time: real",
    "simulated",
    "ratio",
]


def parameters_of(saved):
    """{"read": seconds to read one rank, "closing": all else up to the commit}. An
    agent reads its ranks one after the other."""
    ranks = saved[0]["rank_count"]
    timings = [checkpoint["timings"] for checkpoint in saved]
    return {
        "read": statistics.median(times["capture"] for times in timings) / ranks,
        "closing": statistics.median(
            times["total"] - times["capture"] for times in timings
        ),
    }


def add_simulations(results, period_us, size):
    """Gives each result what the simulator says, with the times that Sync-and-Stop
    took for the same pattern and ranks; where that was measured."""
    measured = {
        (result["pattern"], result["ranks"]): parameters_of(result["checkpoints"])
        for result in results
        if result["protocol"] == "sns"
    }
    for result in results:
        parameters = measured.get((result["pattern"], result["ranks"]))
        if parameters:
            result["simulated"] = simulate(result, period_us, size, parameters)


def simulate(result, period_us, size, parameters):
    """What the simulator says of a case; its output."""
    options = {
        "protocol": result["protocol"],
        "pattern": result["pattern"],
        "ranks": result["ranks"],
        "ranks-per-node": result["ranks"],
        "period": period_us * 1e-6,
        "at": ROUNDS * period_us * 1e-6,
        "bytes": size,
        "image": IMAGE,
        "bandwidth": IMAGE / parameters["read"],
        "writers": 1,
        "closing": parameters["closing"],
    }
    argv = [str(BUILD / "launcher/ckpt-simulate"), "--json"]
    argv += [f"--{name}={value}" for name, value in options.items()]
    done = subprocess.run(argv, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def own_messages(result, simulated):
    """As protocols.own_messages(), of the simulator's output."""
    if result["protocol"] == "sns":
        return simulated["purposes"]["stop and save"]
    kind = "markers" if result["protocol"] == "cl" else "sweep"
    return simulated["messages"][kind]


def ratio(result):
    """Simulated checkpoint time over the real one's median."""
    real = statistics.median(
        checkpoint["timings"]["total"] for checkpoint in result["checkpoints"]
    )
    return result["simulated"]["commit"] / real


def row(result):
    """One line of the table."""
    saved, simulated = result["checkpoints"], result["simulated"]
    own = sorted({protocols.own_messages(checkpoint) for checkpoint in saved})
    stops = [checkpoint["cost"]["stood_still"]["median"] for checkpoint in saved]
    return [
        protocols.PROTOCOLS[result["protocol"]],
        result["ranks"],
        result["pattern"],
        " or ".join(map(str, own)),
        own_messages(result, simulated),
        table.spread(stops),
        table.seconds(simulated["stop_time"]["median"]),
        table.spread([checkpoint["timings"]["total"] for checkpoint in saved]),
        table.seconds(simulated["commit"]),
        f"{ratio(result):.2f}",
    ]


def simulated(data):
    """The results that have a simulation beside them."""
    return [result for result in data["results"] if "simulated" in result]


def summary(data):
    """How good it is, in words."""
    same = [
        own_messages(result, result["simulated"]) == result["expected"]
        for result in simulated(data)
    ]
    text = (
        f"{sum(same)} of {len(same)} simulations have the messages of the formula."
        " The times to read a rank, and of all that is not reading, are those that"
        " Sync-and-Stop took for the same pattern and ranks."
    )
    ratios = sorted(
        ratio(result) for result in simulated(data) if result["protocol"] != "sns"
    )
    if ratios:
        text += (
            " Simulated over real checkpoint time of the other protocols: median"
            f" {statistics.median(ratios):.2f}, from {ratios[0]:.2f} to"
            f" {ratios[-1]:.2f}."
        )
    return text


def markdown(data):
    """The part of the report."""
    lines = ["## The simulator beside it", summary(data)]
    return "\n\n".join([*lines, report.markdown(HEADER, map(row, simulated(data)))])
