# SPDX-License-Identifier: BSD-3-Clause
"""concurrency.py - the steps that a running program loses to a checkpoint: steps are
counted during checkpoints and between them, in one run."""

import bisect
import itertools
import re
import statistics
import time

import report
from ckpttest import table, workloads
from ckpttest.lab import Lab

# Without fourier, which reports its progress only every ten seconds.
WORKLOADS = ("genetic", "sparse", "gauss", "molecules", "equations")
STEPS = 10**6  # the job is killed after enough checkpoints
FIRST = {"genetic": 2000}  # for other units of work
SETTINGS = ["PROTOCOL=sns", "CODEC=auto", "KEEP=1"]
QUIET = 2.0  # seconds, at least, without a checkpoint in which steps are counted
LIMIT = 600  # seconds


class Progress:
    """The steps that a job has reported, at any time."""

    def __init__(self, job, pattern):
        self.times, self.steps = [], []
        # A line that has just been read gets its time a moment later.
        for moment, line in zip(job.times, job.lines, strict=False):
            match = re.match(pattern, line)
            if match:
                self.times.append(moment)
                self.steps.append(int(match[1]))

    def at(self, moment):
        """Returns the steps at a moment, interpolated between two lines."""
        after = bisect.bisect_left(self.times, moment)
        after = min(max(after, 1), len(self.times) - 1)
        (t0, t1), (s0, s1) = (
            pair[after - 1 : after + 1] for pair in (self.times, self.steps)
        )
        return s0 + (s1 - s0) * (moment - t0) / (t1 - t0)

    def rate(self, begin, end):
        """Returns the steps per second."""
        return (self.at(end) - self.at(begin)) / (end - begin)


def save_and_rest(lab, job, count):
    """Returns [(begin, seconds, report of `ckpt checkpoint`), ...], and the end. After
    each checkpoint the job runs for as long again, and QUIET."""
    saved = []
    job.run_on(QUIET)
    for _ in range(count):
        begin = time.monotonic()
        said = lab.checkpoint(job)
        taken = time.monotonic() - begin
        saved.append((begin, taken, said))
        job.run_on(taken + QUIET)
    return saved, time.monotonic()


def losses(progress, saved, end):
    """Yields for each checkpoint except the first its duration, and the time that the
    program has lost before the next one; in seconds. The program's speed is measured
    just before each of the two."""
    begins = [begin for begin, _, _ in saved] + [end]
    speeds = [progress.rate(begin - QUIET, begin) for begin in begins]
    cycles = zip(saved, itertools.pairwise(begins), itertools.pairwise(speeds), strict=True)
    for (_, _, said), (begin, following), around in itertools.islice(cycles, 1, None):
        done = progress.at(following) - progress.at(begin)
        lost = following - begin - done / statistics.mean(around)
        yield {"said": said, "lost": lost, "taken": said["timings"]["total"]}


def measure_one(directory, name, options):
    """Returns losses() of a workload."""
    program = getattr(workloads, name)(
        options.mebibytes * workloads.MIB, FIRST.get(name, STEPS), ranks=options.ranks
    )
    settings = dict(one.split("=", 1) for one in SETTINGS + options.settings)
    lab = Lab(directory, **{f"CKPT_{name}": value for name, value in settings.items()})
    try:
        job = lab.start(program)
        job.wait_for(program.progress, timeout=LIMIT)
        saved, end = save_and_rest(lab, job, options.count + 1)
        job.wait_for(program.progress, timeout=LIMIT)
        job.kill()
        return list(losses(Progress(job, program.progress), saved, end))
    finally:
        lab.close()


def everything(directory, options, say):
    """Returns {workload: losses()}"""
    results = {}
    for name in options.workloads:
        say(name)
        results[name] = measure_one(directory / name, name, options)
        say(" ".join(f"{one['lost']:.2f}/{one['taken']:.2f}" for one in results[name]))
    return results


HEADER = [
    "workload",
    "checkpoint",
    "memory",
    "written",
    "a rank stands still",
    "lost",
    "concurrency",
]


def rows(results):
    """Yields a row for each workload."""
    for name, measured in results.items():
        said = [one["said"] for one in measured]
        yield [
            name,
            table.spread([one["taken"] for one in measured]),
            table.size(said[-1]["memory_bytes"]),
            table.size(said[-1]["bytes"]),
            table.spread([one["cost"]["stood_still"]["most"] for one in said]),
            table.spread([one["lost"] for one in measured], lambda s: f"{s:.2f} s"),
            table.spread(
                [1 - one["lost"] / one["taken"] for one in measured],
                lambda part: f"{100 * part:.0f} %",
            ),
        ]


def text(data):
    """Returns the report, Markdown."""
    parts = [
        "# What a running program loses to a checkpoint",
        "Median (least .. most) of the checkpoints of one job, without the first."
        " Lost: the time from one checkpoint to the next, less what the program's steps"
        " in it take at its speed just before each of the two. Concurrency: 1 - lost /"
        " checkpoint.",
        report.markdown(["machine", ""], list(data["machine"].items())),
        report.markdown(HEADER, list(rows(data["results"]))),
    ]
    return "\n\n".join(parts) + "\n"
