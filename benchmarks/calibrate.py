# SPDX-License-Identifier: BSD-3-Clause
"""calibrate.py - the simulator compared with real checkpoints. It uses the times of
Sync-and-Stop where they were measured; counts of messages do not depend on times."""

import json
import statistics
import subprocess

import protocols
import report
from ckpttest import table
from ckpttest.settings import BUILD

IMAGE = 1e6  # bytes; only its transfer time matters
ROUNDS = 100.5  # before the request

HEADER = [
    "protocol",
    "ranks",
    "nodes",
    "pattern",
    "protocol's messages: real",
    "simulated",
    "a rank stands still: real",
    "simulated",
    "checkpoint time: real",
    "simulated",
    "ratio",
]


def parameters_of(result):
    """Returns {"read": seconds to read one rank, "closing": everything else until the
    commit}. An agent reads its ranks one after the other, and agents read at the same
    time."""
    timings = [checkpoint["timings"] for checkpoint in result["checkpoints"]]
    ranks = ranks_per_node(result)
    return {
        "read": statistics.median(times["capture"] for times in timings) / ranks,
        "closing": statistics.median(
            times["total"] - times["capture"] for times in timings
        ),
    }


def ranks_per_node(result):
    """Returns the ranks of each node; the last node may have fewer."""
    return -(-result["ranks"] // result["nodes"])


def add_simulations(results, period_us, size):
    """Adds the simulator's output to each result, with the times of Sync-and-Stop for
    the same pattern, ranks and nodes. Where these were not measured, "timed" is false,
    and the simulated times are meaningless."""

    def job(result):
        return result["pattern"], result["ranks"], result["nodes"]

    measured = {
        job(result): parameters_of(result)
        for result in results
        if result["protocol"] == "sns"
    }
    for result in results:
        parameters = measured.get(job(result))
        result["timed"] = parameters is not None
        result["simulated"] = simulate(result, period_us, size, parameters)


def simulate(result, period_us, size, parameters):
    """Returns the simulator's output for a case."""
    ranks = ranks_per_node(result)
    options = {
        "protocol": result["protocol"],
        "dimensions": result["dimensions"],
        "pattern": result["pattern"],
        "ranks": result["ranks"],
        "ranks-per-node": ranks,
        "ranks-per-file-system": ranks,
        "period": period_us * 1e-6,
        "at": ROUNDS * period_us * 1e-6,
        "bytes": size,
        "image": IMAGE,
        "writers": 1,
    }
    if parameters is not None:
        options["bandwidth"] = IMAGE / parameters["read"]
        options["closing"] = parameters["closing"]
    argv = [str(BUILD / "launcher/ckpt-simulate"), "--json"]
    argv += [f"--{name}={value}" for name, value in options.items()]
    done = subprocess.run(argv, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def own_messages(result, simulated):
    """Returns protocols.own_messages() for the simulator's output."""
    if result["protocol"] == "sns":
        return simulated["purposes"]["stop and save"]
    kind = "markers" if result["protocol"] == "cl" else "sweep"
    return simulated["messages"][kind]


def ratio(result):
    """Returns the simulated checkpoint time divided by the median of the real ones."""
    real = statistics.median(
        checkpoint["timings"]["total"] for checkpoint in result["checkpoints"]
    )
    return result["simulated"]["commit"] / real


def row(result):
    """Returns one line of the table."""
    saved, simulated = result["checkpoints"], result["simulated"]
    still, commit, part = ["-"] * 3
    if result["timed"]:
        still = table.seconds(simulated["stop_time"]["median"])
        commit = table.seconds(simulated["commit"])
        part = f"{ratio(result):.2f}"
    own = sorted(
        protocols.own_messages(checkpoint)
        for checkpoint in saved
        if checkpoint["expected"] == result["expected"]
    )
    stops = [checkpoint["cost"]["stood_still"]["median"] for checkpoint in saved]
    return [
        protocols.PROTOCOLS[result["protocol"]],
        result["ranks"],
        result["nodes"],
        result["pattern"],
        " or ".join(map(str, dict.fromkeys(own))),
        own_messages(result, simulated),
        table.spread(stops),
        still,
        table.spread([checkpoint["timings"]["total"] for checkpoint in saved]),
        commit,
        part,
    ]


def summary(data):
    """Describes the agreement in words."""
    results = data["results"]
    same = [
        own_messages(result, result["simulated"]) == result["expected"]
        for result in results
    ]
    text = f"{sum(same)} of {len(same)} simulations have the messages of the formula."
    ratios = sorted(
        ratio(result)
        for result in results
        if result["timed"] and result["protocol"] != "sns"
    )
    if any(result["timed"] for result in results):
        text += (
            " The times to read a rank, and of all that is not reading, are those that"
            " Sync-and-Stop took for the same pattern, ranks and nodes, where it was"
            " measured."
        )
    if ratios:
        text += (
            " Simulated over real checkpoint time of the other protocols: median"
            f" {statistics.median(ratios):.2f}, from {ratios[0]:.2f} to"
            f" {ratios[-1]:.2f}."
        )
    return text


def markdown(data):
    """Returns this part of the report."""
    lines = ["## The simulator beside it", summary(data)]
    return "\n\n".join([*lines, report.markdown(HEADER, map(row, data["results"]))])
