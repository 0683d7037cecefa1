# SPDX-License-Identifier: BSD-3-Clause
"""copies.py - what it costs a job to keep frozen copies of its ranks for a recovery in place: the
time until the job ends, and the memory of its processes."""

import statistics
import time

import recovery
import report
from ckpttest import processes, programs, recoveries, table
from ckpttest.mpis import OPENMPI4
from footprint import Watch

LIMIT = 900  # seconds for a run
# What the table compares. The names are also those of the copies in `ckpt status --json`.
KINDS = {"no": recovery.NONE, "kept": recovery.COPIES, "standby": recovery.HOT}


def workloads(options):
    """Returns {name: program}; scale 1 is for some 30 s on two processors. The second program
    writes a twentieth of its memory in each step."""
    steps = int(300000 * options.scale / options.mebibytes)
    return {
        "LAMMPS, 32,000 atoms": programs.lammps(int(3300 * options.scale), options.ranks, 100),
        f"writes all of its {options.mebibytes} MiB a rank": programs.memory(
            options.mebibytes, steps, options.ranks
        ),
    }


def peak_memory(lab, job, kind):
    """Returns the peak memory of all processes of a job until the job's end, bytes."""
    place = lab.environment()["CKPT_DIR"]
    with Watch(lambda: {"job": processes.started_with("CKPT_DIR", place)}) as watch:
        if kind != "no":
            recoveries.await_copies(lab, job, kind)
        job.finish(LIMIT)
    return watch.most["job"]


def run(directory, program, kind, options, is_watched=False):
    """Runs a program with periodic checkpoints to its end; returns {"seconds", "checkpoints",
    "memory"}. The memory is known if the job is watched."""
    lab = recoveries.make_lab(directory, OPENMPI4, CKPT_KEEP=2)
    try:
        job = recoveries.start(lab, program, options.interval, KINDS[kind])
        memory = peak_memory(lab, job, kind) if is_watched else None
        job.succeed(LIMIT)
        seconds = time.monotonic() - job.started
        assert recoveries.counts(job) == (0, []), job.lines
        assert recoveries.nobody_is_left(lab, job)
        saved = lab.checkpoints()
        number = saved[-1]["number"] if saved else 0
        return {"seconds": seconds, "checkpoints": number, "memory": memory}
    finally:
        lab.close()


def measure(directory, program, options):
    """Returns {kind: {"memory", "runs": [run(), one for each turn]}}. The memory is that of one
    more job, because samples take processor time. Each turn begins with another kind."""
    kinds = list(KINDS)
    results = {}
    for kind in kinds:
        watched = run(directory / f"{kind}-watched", program, kind, options, is_watched=True)
        results[kind] = {"memory": watched["memory"], "runs": []}
    for turn in range(options.count):
        first = turn % len(kinds)
        for kind in [*kinds[first:], *kinds[:first]]:
            place = directory / f"{kind}-{turn}"
            results[kind]["runs"].append(run(place, program, kind, options))
    return results


def everything(directory, options, say):
    """Returns {workload: measure()}"""
    results = {}
    for number, (name, program) in enumerate(workloads(options).items()):
        say(name)
        results[name] = measure(directory / str(number), program, options)
    return results


HEADER = [
    "program",
    "copies",
    "seconds of the job",
    "added, of turns",
    "checkpoints",
    "memory, the most",
    "added",
]


def share(ratio):
    """1.034 -> '+3.4%'"""
    return f"{ratio - 1:+.1%}"


def rows(results):
    """Yields the rows. What a kind adds is relative to the job without copies."""
    for name, kinds in results.items():
        without = kinds["no"]
        for kind, found in kinds.items():
            pairs = zip(found["runs"], without["runs"], strict=True)
            ratios = [own["seconds"] / other["seconds"] for own, other in pairs]
            is_other = kind != "no"
            yield [
                name,
                kind,
                table.spread([one["seconds"] for one in found["runs"]]),
                table.spread(ratios, share) if is_other else "-",
                statistics.median(one["checkpoints"] for one in found["runs"]),
                table.size(found["memory"]),
                share(found["memory"] / without["memory"]) if is_other else "-",
            ]


def text(data):
    """Returns the report, Markdown."""
    parts = [
        "# What kept copies cost",
        "Jobs from their start to their end; median (least .. most) of jobs in turns, and the"
        " differences within a turn. The memory is the greatest sum of proportional set sizes of"
        " all processes of one more job. Without copies, checkpoints are taken by the default"
        " method (cll), otherwise by cow.",
        report.markdown(["machine", ""], list(data["machine"].items())),
        report.markdown(HEADER, list(rows(data["results"]))),
    ]
    return "\n\n".join(parts) + "\n"
