# SPDX-License-Identifier: BSD-3-Clause
"""snapshots.py - how long ranks stand still by each method, and how much of that the
kernel takes."""

import statistics

import report
from ckpttest import programs, table
from ckpttest.lab import Lab
from ckpttest.settings import BUILD
from measure import named_seconds, save_often

METHODS = ("stop", "memory", "cow", "cll")
LIMIT = 120  # seconds
STEPS = 10**6  # the job is killed after enough checkpoints
PAUSE_US = 1000  # of a rank after each step, which writes a twentieth of its memory


def floor(mebibytes, rounds):
    """Returns {"fork": [seconds, ...], "rewrite", "write", "protect", "copy"}"""
    return named_seconds(BUILD / "benchmarks/snapshot_floor", mebibytes, rounds)


def checkpoints(directory, method, mebibytes, options):
    """Returns the report of `ckpt checkpoint` for each checkpoint of one job."""
    program = programs.memory(mebibytes, STEPS, options.ranks, PAUSE_US)
    lab = Lab(
        directory,
        CKPT_SNAPSHOT=method,
        CKPT_PROTOCOL=options.protocol,
        CKPT_CODEC=options.codec,
        CKPT_KEEP=1,
    )
    try:
        return save_often(lab, program, options.count, LIMIT)
    finally:
        lab.close()


def everything(directory, options, say):
    """Returns [{"mebibytes", "floor", "methods": {method: checkpoints()}}]"""
    results = []
    for mebibytes in options.mebibytes:
        result = {"mebibytes": mebibytes, "methods": {}}
        result["floor"] = floor(mebibytes, options.count)
        for method in METHODS:
            say(f"{mebibytes} MiB a rank, {method}")
            place = directory / f"{mebibytes}-{method}"
            result["methods"][method] = checkpoints(place, method, mebibytes, options)
        results.append(result)
    return results


FLOOR_HEADER = [
    "MiB",
    "copy page tables (fork)",
    "write-protect (userfaultfd)",
    "memcpy",
    "then, a page written: after fork",
    "without",
]
HEADER = [
    "MiB a rank",
    "method",
    "a rank stands still",
    "the longest",
    "checkpoint",
    "MB/s",
    "99.9% of writes waited less than",
    "the longest",
    "for the pool",
]


def fault_cells(saved):
    """Returns how long writes of ranks waited during a checkpoint (cll)."""
    faults = [checkpoint["cost"]["faults"] for checkpoint in saved]
    if not any(fault["count"] for fault in faults):
        return ["", "", ""]
    return [
        table.spread([fault["p999"] for fault in faults]),
        table.spread([fault["most"] for fault in faults]),
        sum(fault["pool_waits"] for fault in faults),
    ]


def floor_rows(results):
    """Yields the rows of the kernel's part."""
    for result in results:
        kernel, pages = result["floor"], result["mebibytes"] * 256
        protect = kernel.get("protect")
        yield [
            result["mebibytes"],
            table.spread(kernel["fork"]),
            table.spread(protect) if protect else "not allowed",
            table.spread(kernel["copy"]),
            table.spread([seconds / pages for seconds in kernel["rewrite"]]),
            table.spread([seconds / pages for seconds in kernel["write"]]),
        ]


def rows(results):
    """Yields the rows of ckpt."""
    for result in results:
        for method, saved in result["methods"].items():
            stops = [checkpoint["cost"]["stood_still"] for checkpoint in saved]
            totals = [checkpoint["timings"]["total"] for checkpoint in saved]
            rates = [
                checkpoint["memory_bytes"] / total / 1e6
                for checkpoint, total in zip(saved, totals, strict=True)
            ]
            yield [
                result["mebibytes"],
                method,
                table.spread([stop["median"] for stop in stops]),
                table.spread([stop["most"] for stop in stops]),
                table.spread(totals),
                f"{statistics.median(rates):.0f}",
                *fault_cells(saved),
            ]


def text(data):
    """Returns the report, Markdown."""
    parts = [
        "# How long ranks stand still",
        "Median (least .. most) of the checkpoints of one job, the first among them,"
        " and of as many measurements of the kernel's part, in one process.",
        report.markdown(["machine", ""], list(data["machine"].items())),
        "## The kernel's part",
        report.markdown(FLOOR_HEADER, list(floor_rows(data["results"]))),
        "## Checkpoints",
        report.markdown(HEADER, list(rows(data["results"]))),
    ]
    return "\n\n".join(parts) + "\n"
