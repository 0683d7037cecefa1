# SPDX-License-Identifier: BSD-3-Clause
"""overhead.py - how much later a program ends if it is saved every few seconds, by each
protocol, staggered or not."""

import statistics
from dataclasses import dataclass

import report
from ckpttest import programs, table
from ckpttest.lab import Lab

LIMIT = 900  # seconds for a run


@dataclass(frozen=True)
class Way:
    """The way in which a run is saved."""

    name: str
    protocol: str
    stagger: str


WAYS = (
    Way("Sync-and-Stop", "sns", "no"),
    Way("Chandy-Lamport", "cl", "no"),
    Way("Chandy-Lamport, staggered", "cl", "node"),
    Way("network sweeping", "ns", "no"),
    Way("network sweeping, staggered", "ns", "node"),
)


def workloads(ranks, scale):
    """Returns {name: program}; scale 1 is for some 20 s on two processors."""
    return {
        "LAMMPS, 32,000 atoms": programs.lammps(int(2200 * scale), ranks, 100),
        "tight: ring, 60 us a step": programs.ring(int(300000 * scale), ranks),
        "tight: 200 MB a rank": programs.memory(200, int(1000 * scale), ranks),
        "loose: computation": programs.compute(20, int(300 * scale), ranks),
    }


def run(directory, program, way, interval):
    """Returns (seconds, checkpoints, the last one's status) of one run; without
    checkpoints if interval is 0."""
    lab = Lab(
        directory,
        CKPT_PROTOCOL=way.protocol,
        CKPT_STAGGER=way.stagger,
        CKPT_SNAPSHOT="stop",
        CKPT_INTERVAL=f"{interval}s",
        CKPT_KEEP=2,
    )
    try:
        job = lab.start(program)
        job.succeed(LIMIT)
        saved = lab.checkpoints()
        number = saved[-1]["number"] if saved else 0
        return job.times[-1] - job.started, number
    finally:
        lab.close()


def measure(directory, program, pairs, interval):
    """Returns [{"way", "seconds", "without", "checkpoints"}]: each run is paired with a
    run without checkpoints under the same protocol, in alternating order."""
    results = []
    for pair in range(pairs):
        for way in WAYS:
            order = [0, interval] if pair % 2 == 0 else [interval, 0]
            took = {}
            for number, period in enumerate(order):
                place = directory / f"{pair}-{way.protocol}-{way.stagger}-{number}"
                took[period] = run(place, program, way, period)
            results.append(
                {
                    "way": way.name,
                    "seconds": took[interval][0],
                    "without": took[0][0],
                    "checkpoints": took[interval][1],
                }
            )
    return results


def everything(directory, ranks, scale, pairs, interval, say):
    """Returns {workload: measure()}"""
    results = {}
    for number, (name, program) in enumerate(workloads(ranks, scale).items()):
        say(name)
        results[name] = measure(directory / str(number), program, pairs, interval)
    return results


def _milliseconds(seconds):
    return f"{1000 * seconds:.0f} ms"


def _percent(share):
    return f"{100 * share:.1f} %"


def rows(results):
    """Yields the rows of the table."""
    for workload, runs in results.items():
        for way in WAYS:
            own = [run for run in runs if run["way"] == way.name]
            counted = [run for run in own if run["checkpoints"] > 0]
            each = [
                (run["seconds"] - run["without"]) / run["checkpoints"]
                for run in counted
            ]
            whole = [run["seconds"] / run["without"] - 1 for run in own]
            yield [
                workload,
                way.name,
                table.spread([run["without"] for run in own]),
                statistics.median(run["checkpoints"] for run in own),
                table.spread(each, _milliseconds) if each else "-",
                table.spread(whole, _percent),
            ]


HEADER = [
    "program",
    "protocol",
    "without checkpoints",
    "checkpoints",
    "a checkpoint adds",
    "all of them add",
]


def text(data):
    """Returns the report, Markdown."""
    parts = [
        "# What checkpoints add to a run",
        f"One every {data['interval']} s. Median (least .. most) of pairs of runs.",
        report.markdown(["machine", ""], list(data["machine"].items())),
        report.markdown(HEADER, list(rows(data["results"]))),
    ]
    return "\n\n".join(parts) + "\n"
