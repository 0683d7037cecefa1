# SPDX-License-Identifier: BSD-3-Clause
"""bandwidth.py - the speed of writing and reading checkpoints, compared with memcpy and a plain
program that writes and reads as much."""

import statistics
import time

import report
from ckpttest import programs, table
from ckpttest.lab import Lab
from ckpttest.settings import BUILD
from measure import named_seconds, save_often

LIMIT = 120  # seconds
STEPS = 10**6  # the job is killed after enough checkpoints
REST_US = 100000  # of a rank after each step: nearly all of the time
SMALL = 1  # MiB of a rank, for the fixed cost of a restart


def floor(directory, mebibytes, rounds):
    """Returns {"copy": [seconds, ...], "write", "read"}, and "direct" (O_DIRECT) if available."""
    program = BUILD / "benchmarks/stream_floor"
    return named_seconds(program, directory / "stream", mebibytes, rounds)


def restart(lab):
    """Returns the seconds until all ranks of the newest checkpoint run again and have an agent."""
    begin = time.monotonic()
    job = lab.restart()
    lab.wait_for_agent(job)
    seconds = time.monotonic() - begin
    job.kill()
    return seconds


def measure(directory, mebibytes, options):
    """Returns {"saved": reports of `ckpt checkpoint`, "restarts": [seconds, ...]}"""
    program = programs.memory(mebibytes, STEPS, options.ranks, REST_US)
    lab = Lab(directory, CKPT_CODEC="none", CKPT_SNAPSHOT=options.snapshot, CKPT_KEEP=1)
    try:
        saved = save_often(lab, program, options.count, LIMIT)
        restarts = [restart(lab) for _ in range(options.count)]
        return {"saved": saved, "restarts": restarts}
    finally:
        lab.close()


def everything(directory, options, say):
    """Returns the results of one file system: {"floor", "small", "large"}"""
    say(f"{directory}: plain")
    result = {"floor": floor(directory, options.mebibytes * options.ranks, options.count)}
    for name, mebibytes in (("small", SMALL), ("large", options.mebibytes)):
        say(f"{directory}: {mebibytes} MiB a rank")
        result[name] = measure(directory / name, mebibytes, options)
    return result


HEADER = ["file system", "what", "seconds", "GB/s", "of plain"]


def row(place, what, values, size, plain):
    """Returns a row. plain: median seconds of a plain program."""
    middle = statistics.median(values)
    share = "" if plain is None else f"{plain / middle:.2f}"
    return [place, what, table.spread(values), f"{size / middle / 1e9:.2f}", share]


def rows(results, options):
    """Yields the rows of each file system."""
    size = options.mebibytes * options.ranks * 2**20
    for place, result in results.items():
        plain = {name: statistics.median(v) for name, v in result["floor"].items()}
        base = statistics.median(result["small"]["restarts"])
        for name in sorted(plain):
            yield row(place, name, result["floor"][name], size, None)
        saved = result["large"]["saved"]
        yield row(
            place,
            "checkpoint",
            [one["timings"]["total"] for one in saved],
            size,
            max(plain["write"], plain["copy"]),
        )
        yield row(
            place,
            "restart, less what one with little memory takes",
            [seconds - base for seconds in result["large"]["restarts"]],
            size,
            plain["read"],
        )


def text(data, options):
    """Returns the report, Markdown."""
    parts = [
        "# How fast checkpoints are written and read",
        f"{options.ranks} ranks of {options.mebibytes} MiB, `--codec none --snapshot"
        f" {options.snapshot}`; median (least .. most). Plain: as many bytes by one"
        " process, with fsync; read with the file's pages as they are after that.",
        report.markdown(["machine", ""], list(data["machine"].items())),
        report.markdown(HEADER, list(rows(data["results"], options))),
    ]
    return "\n\n".join(parts) + "\n"
