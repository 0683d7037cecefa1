# SPDX-License-Identifier: BSD-3-Clause
"""footprint.py - the memory that a checkpoint uses in addition to the ranks', while the ranks write
to their memory."""

import threading
from pathlib import Path

import report
from ckpttest import processes, programs, table
from ckpttest.lab import Lab

METHODS = ("cll", "cow")
LIMIT = 600  # seconds
STEPS = 10**7  # the job is killed after the checkpoint
SAMPLE = 0.2  # seconds between two samples


def proportional(pid):
    """Returns the proportional set size of a process in bytes (shared memory divided by its users),
    0 if the process is gone."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
    except OSError:
        return 0
    for line in text.splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) << 10
    return 0


class Watch:
    """A context in which a thread records the peak memory of groups of processes."""

    def __init__(self, groups):
        """groups: a function that returns {name of a group: its process ids}."""
        self.groups = groups
        self.most = {}  # name of a group -> bytes
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def look(self):
        """Takes one sample."""
        for name, pids in self.groups().items():
            now = sum(map(proportional, pids))
            self.most[name] = max(self.most.get(name, 0), now)

    def run(self):
        """Takes samples until the context ends."""
        while not self.ends.wait(SAMPLE):
            self.look()

    def __enter__(self):
        self.look()
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.ends.set()
        self.thread.join()


def measure(directory, method, options):
    """Returns {"before", "during": {"agent", "ranks and copies"}, "saved"} of one method."""
    program = programs.memory(options.mebibytes, STEPS, options.ranks)
    lab = Lab(
        directory,
        CKPT_SNAPSHOT=method,
        CKPT_CODEC="none",
        CKPT_POOL=options.pool,
        CKPT_KEEP=1,
    )
    try:
        job = lab.start(program)
        job.wait_for(program.progress, timeout=LIMIT)
        (status,) = lab.ckpt_json("status", job.pid)
        ranks = processes.ranks_of(job.pid)

        def groups():
            copies = processes.frozen_copies(lab.work)
            return {"agent": [status["agent_pid"]], "ranks and copies": [*ranks, *copies]}

        with Watch(groups) as watch:
            before = dict(watch.most)
            saved = lab.checkpoint(job, timeout=LIMIT)
        job.kill()
        return {"before": before, "during": watch.most, "saved": saved}
    finally:
        lab.close()


def everything(directory, options, say):
    """Returns {method: measure()}"""
    results = {}
    for method in METHODS:
        say(f"{options.ranks} ranks of {options.mebibytes} MiB, {method}")
        results[method] = measure(directory / method, method, options)
    return results


HEADER = [
    "method",
    "agent before",
    "agent, the most",
    "ranks before",
    "ranks and copies, the most",
    "checkpoint",
    "stood still",
    "writes that waited",
    "for the pool",
    "99.9% within",
    "longest",
]


def rows(results):
    """Yields a line for each method."""
    for method, result in results.items():
        before, during, saved = result["before"], result["during"], result["saved"]
        faults = saved["cost"]["faults"]
        yield [
            method,
            table.size(before["agent"]),
            table.size(during["agent"]),
            table.size(before["ranks and copies"]),
            table.size(during["ranks and copies"]),
            table.seconds(saved["timings"]["total"]),
            table.seconds(saved["cost"]["stood_still"]["most"]),
            faults["count"],
            faults["pool_waits"],
            table.seconds(faults["p999"]) if faults["count"] else "",
            table.seconds(faults["most"]) if faults["count"] else "",
        ]


def text(data):
    """Returns the report, Markdown."""
    parts = [
        "# Memory that a checkpoint takes",
        "Proportional set sizes, looked at every 0.2 s while one checkpoint is taken.",
        report.markdown(["machine", ""], list(data["machine"].items())),
        report.markdown(HEADER, list(rows(data["results"]))),
    ]
    return "\n\n".join(parts) + "\n"
