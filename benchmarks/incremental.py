# SPDX-License-Identifier: BSD-3-Clause
"""incremental.py - the cost of incremental checkpoints compared with full ones, and the time to
restart from each checkpoint of a chain."""

import time

import report
from ckpttest import programs, table
from ckpttest.lab import Lab
from measure import save_often

LIMIT = 60  # seconds
STEPS = 10**6  # the job is killed after enough checkpoints
TENTH_OF_A_PERCENT = 1  # per mille of the pages, at each step; a line every ten steps
PAUSE_US = 50000  # after each of these steps


def cases(mebibytes):
    """Returns [(name, program)]"""
    scattered = programs.scattered(
        mebibytes, STEPS, per_mille=TENTH_OF_A_PERCENT, pause_us=PAUSE_US
    )
    return [
        ("LAMMPS", programs.lammps(STEPS, every=50)),
        (f"scattered, 1% of 2 x {mebibytes} MiB between two", scattered),
    ]


def restart(lab, program, name):
    """Returns the seconds until a restarted job shows progress."""
    begin = time.monotonic()
    job = lab.restart(name)
    job.wait_for(program.progress, timeout=LIMIT)
    seconds = time.monotonic() - begin
    job.kill()
    return seconds


def measure(directory, program, options, **settings):
    """Returns {"saved": [...], "restarts": [seconds, ...]} of one job."""
    lab = Lab(directory, CKPT_CODEC=options.codec, CKPT_SNAPSHOT=options.snapshot, **settings)
    try:
        saved = save_often(lab, program, options.count + 1, LIMIT)
        kept = [entry["name"] for entry in lab.checkpoints()]
        restarts = [restart(lab, program, name) for name in kept]
        return {"saved": saved, "restarts": restarts}
    finally:
        lab.close()


def everything(directory, options, say):
    """Returns [{"program", "all": measure(), "changed": measure()}]"""
    results = []
    for number, (name, program) in enumerate(cases(options.mebibytes)):
        result = {"program": name}
        say(f"{name}: all of it")
        result["all"] = measure(directory / f"{number}-all", program, options, CKPT_KEEP="1")
        say(f"{name}: what has changed")
        # Twice the number of checkpoints: half a chain is folded.
        result["changed"] = measure(
            directory / f"{number}-changed",
            program,
            options,
            CKPT_KEEP="1",
            CKPT_INCREMENTAL=str(2 * options.count + 2),
        )
        results.append(result)
    return results


HEADER = ["program", "saved", "MB", "checkpoint", "a rank stands still", "restart to progress"]


def row(name, kind, saved, restarts):
    """Returns the row of some checkpoints."""
    return [
        name,
        kind,
        table.spread([one["bytes"] / 1e6 for one in saved], "{:.1f}".format),
        table.spread([one["timings"]["total"] for one in saved]),
        table.spread([one["cost"]["stood_still"]["median"] for one in saved]),
        table.spread(restarts),
    ]


def rows(results):
    """Yields the rows. The first checkpoint of either job has an agent that has just started."""
    for result in results:
        everything_, changed = result["all"], result["changed"]
        name = result["program"]
        yield row(name, "all", everything_["saved"][1:], everything_["restarts"])
        yield row(
            name,
            f"what has changed, {len(changed['saved']) - 1} on top of one",
            changed["saved"][1:],
            changed["restarts"][1:],
        )


def text(data):
    """Returns the report, Markdown."""
    parts = [
        "# Incremental checkpoints",
        "Median (least .. most) of the checkpoints of one job but the first. Restarts: from"
        " each that was kept, until the program shows progress.",
        report.markdown(["machine", ""], list(data["machine"].items())),
        report.markdown(HEADER, list(rows(data["results"]))),
    ]
    return "\n\n".join(parts) + "\n"
