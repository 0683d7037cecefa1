# SPDX-License-Identifier: BSD-3-Clause
"""cuts.py - takes checkpoints of random programs at random moments, and has each
cut judged by what the restarted ranks then do.

The program is apps/events, which logs its events into files. A restart puts the
files back to what they were at the cut of each rank, and the program goes on
writing: so the events of before the restart are those before the cut. Some of
the restarted jobs are saved again before they end, and so on.
"""

import random
import subprocess
import time
from collections import Counter
from dataclasses import dataclass

from . import consistency, events, programs
from .job import JobError
from .lab import Lab

LONGEST_PAUSE = 0.2  # seconds before a checkpoint
FIRST_CUTS = 6  # at most, of a job that was not restarted
LATER_CUTS = 2  # at most, of one that was
KEPT = 1000  # all of a run
SHOWN = 12  # errors in a message


@dataclass
class Saved:
    """A checkpoint that is still to be judged."""

    name: str
    logs: list  # what the saved job had logged when it ended


class Run:
    """A random program, its checkpoints, and theirs."""

    def __init__(self, directory, ranks, seed, protocol):
        settings = {"CKPT_KEEP": KEPT, "CKPT_PROTOCOL": protocol}
        self.lab = Lab(directory, CKPT_NAME="cuts", **settings)
        self.stop = self.lab.directory / "stop"
        self.ranks = ranks
        self.program = programs.events(seed, self.stop, ranks)
        self.chance = random.Random(seed)
        self.counts = Counter()
        self.unjudged = []

    def save(self, job, times):
        """Checkpoints at random moments; their names."""
        names = []
        for _ in range(times):
            assert job.run_on(self.chance.uniform(0, LONGEST_PAUSE))
            names.append(self.lab.checkpoint(job)["name"])
        return names

    def end(self, job, names):
        """Has the job end, and keeps its checkpoints in mind; its logs. That it
        does not end is what a lost message looks like."""
        self.stop.touch()
        trouble = []
        try:
            programs.ok_line(job.succeed(), self.lab.work)
        except JobError as error:
            job.kill()
            trouble.append(str(error))
        logs = events.read_logs(self.lab.work, self.ranks)
        self.unjudged += [Saved(name, logs) for name in names]
        return logs, trouble

    def judge(self, what, logs, cut, trouble):
        """Raises if anything is wrong with a run that went on from a cut."""
        history = [events.parse_log(log, self.ranks) for log in logs]
        errors = consistency.judge(history, cut)
        if errors or trouble:
            more = [f"and {len(errors) - SHOWN} more"] * (len(errors) > SHOWN)
            text = "\n    ".join([*errors[:SHOWN], *more, *trouble])
            raise AssertionError(f"{what}, cut {cut}:\n    {text}")
        self.counts["events"] += sum(map(len, history))
        return history

    def first(self, most):
        """The program from its beginning, with up to `most` checkpoints."""
        job = self.lab.start(self.program)
        job.wait_for(self.program.progress)
        names = self.save(job, min(most, FIRST_CUTS))
        logs, trouble = self.end(job, names)
        self.judge("first run", logs, [0] * self.ranks, trouble)
        self.counts["runs"] += 1

    def again(self, most):
        """Restarts an unjudged checkpoint and judges it; the restarted job has
        up to `most` checkpoints itself."""
        saved = self.unjudged.pop(self.chance.randrange(len(self.unjudged)))
        times = min(most, self.chance.choice([0, 0, 1, LATER_CUTS]))
        events.write_logs(self.lab.work, saved.logs)
        if times > 0:
            self.stop.unlink()
        began = time.monotonic_ns()
        job = self.lab.restart(saved.name)
        names = []
        if times > 0:
            job.wait_for(self.program.progress)
            names = self.save(job, times)
        logs, trouble = self.end(job, names)
        self.judge_cut(saved, logs, began, trouble)

    def judge_cut(self, saved, logs, began, trouble):
        """Judges a checkpoint whose restart began at a moment (ns)."""
        history = [events.parse_log(log, self.ranks) for log in logs]
        cut = [sum(event.time < began for event in log) for log in history]
        size = events.record_size(self.ranks)
        for rank, (new, old) in enumerate(zip(logs, saved.logs)):
            if new[: cut[rank] * size] != old[: cut[rank] * size]:
                trouble.append(f"rank {rank}: its log is another before the cut")
        history = self.judge(f"checkpoint {saved.name}", logs, cut, trouble)
        self.counts["cuts"] += 1
        messages, collectives = consistency.crossing(history, cut)
        self.counts["messages across the cuts"] += messages
        self.counts["cuts with messages across"] += messages > 0
        self.counts["collectives across the cuts"] += collectives


def run_cuts(directory, cuts, seed, ranks=(2, 4), protocol="sns", show=print):
    """Judges that many cuts of random programs on ranks[0] to ranks[1] ranks;
    what was counted. Raises at the first that is wrong."""
    totals = Counter()
    chance = random.Random(seed)
    while totals["cuts"] < cuts:
        number = chance.randrange(2**30)
        place = directory / f"run{totals['runs']}"
        run = Run(place, chance.randint(*ranks), number, protocol)
        left = cuts - totals["cuts"]
        try:
            run.first(left)
            while run.unjudged:
                done = run.counts["cuts"] + len(run.unjudged)
                run.again(min(left, 3 * FIRST_CUTS) - done)
        except Exception as error:
            raise AssertionError(
                f"{' '.join(map(str, run.program.argv))} on {run.ranks} ranks: "
                f"{error}"
            ) from error
        finally:
            run.lab.close()
        totals += run.counts
        subprocess.run(["rm", "-rf", place], check=True)
        show(f"{totals['cuts']} cuts: {dict(totals)}")
    return totals
