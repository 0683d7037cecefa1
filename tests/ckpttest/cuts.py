# SPDX-License-Identifier: BSD-3-Clause
"""cuts.py - takes checkpoints of random programs at random moments, and judges each cut
by the events of the restarted ranks.

The program is apps/events, which logs its events into files. A restart rolls the files
back to their content at the cut of each rank, and the program goes on writing. The
events before the restart are therefore the events before the cut. Some of the restarted
jobs are saved again before they end, and so on.
"""

import contextlib
import random
import subprocess
import time
from collections import Counter
from dataclasses import dataclass

from . import consistency, events, programs
from .cluster import Cluster
from .job import JobError
from .lab import Lab

PROTOCOLS = ["sns", "cl", "ns"]
LONGEST_PAUSE = 0.2  # seconds before a checkpoint
FIRST_CUTS = 6  # at most, of a job that was not restarted
LATER_CUTS = 2  # at most, of a restarted job
KEPT = 1000  # checkpoints; all of a run

# The transports for messages on a node, with limits for eager messages.
_TCP = {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "lo"}
_VADER = {"OMPI_MCA_btl": "vader,self"}
NETWORKS = [
    _VADER,
    {**_VADER, "OMPI_MCA_btl_vader_eager_limit": "500"},
    _TCP,
    {**_TCP, "OMPI_MCA_btl_tcp_eager_limit": "500"},
]
BETWEEN_NODES = [{}]
LAST_WORDS = 2  # seconds that mpirun has to report the end of a job
SHOWN = 12  # errors in a message


@dataclass
class Saved:
    """A checkpoint that no restart has judged yet."""

    name: str
    logs: list  # the saved job's logs at its end


class Run:
    """A random program, its checkpoints, and the checkpoints of its restarts."""

    def __init__(self, lab, networks, ranks, seed):
        self.lab = lab
        self.networks = networks
        self.stop = self.lab.directory / "stop"
        self.ranks = ranks
        self.program = programs.events(seed, self.stop, ranks)
        self.chance = random.Random(seed)
        self.counts = Counter()
        self.unjudged = []

    def save(self, job, times):
        """Takes checkpoints at random moments; returns their names."""
        names = []
        for _ in range(times):
            assert job.run_on(self.chance.uniform(0, LONGEST_PAUSE)), "it ended"
            taken = self.lab.checkpoint(job)
            self.counts[f"taken by {taken['protocol']}"] += 1
            self.counts["messages logged"] += taken["logged_messages"]
            names.append(taken["name"])
        return names

    def go_on(self, job, times):
        """Saves a job a number of times and lets it end; returns its logs and an error
        text. After a lost message, a job stands still."""
        names, trouble = [], []
        try:
            if times > 0:
                job.wait_for(self.program.progress)
                names = self.save(job, times)
            self.stop.touch()
            programs.ok_line(job.succeed(), self.lab.work)
        except (AssertionError, subprocess.TimeoutExpired) as error:
            job.run_on(LAST_WORDS)
            job.kill()
            trouble.append(str(JobError(job, error)))
        logs = events.read_logs(self.lab.work, self.ranks)
        self.unjudged += [Saved(name, logs) for name in names]
        return logs, trouble

    def first(self, most):
        """Runs the program from its beginning, with up to `most` checkpoints."""
        network = self.chance.choice(self.networks)
        job = self.lab.start(self.program, **network)
        logs, trouble = self.go_on(job, min(most, FIRST_CUTS))
        self.judge("first run", logs, [0] * self.ranks, trouble)
        self.counts["runs"] += 1

    def again(self, most):
        """Restarts an unjudged checkpoint and judges it; takes up to `most` checkpoints
        of the restarted job."""
        saved = self.unjudged.pop(self.chance.randrange(len(self.unjudged)))
        times = max(0, min(most, self.chance.choice([0, 0, 1, LATER_CUTS])))
        network = self.chance.choice(self.networks)
        events.write_logs(self.lab.work, saved.logs)
        if times > 0:
            self.stop.unlink()
        began = time.time_ns()
        # The lines above put the logs of any run there; the journal knows only one
        # past.
        job = self.lab.restart(saved.name, CKPT_FILES="ignore", **network)
        logs, trouble = self.go_on(job, times)
        cut = events.count_until(began, logs)
        trouble += [
            f"rank {rank}: its log is another before the cut"
            for rank in events.unequal_until(cut, saved.logs, logs)
        ]
        history = self.judge(f"checkpoint {saved.name}", logs, cut, trouble)
        self.counts["cuts"] += 1
        self.count(history, cut)

    def judge(self, what, logs, cut, trouble):
        """Raises if a run that went on from a cut has an error; returns its history."""
        history = [events.parse_log(log, self.ranks) for log in logs]
        errors = consistency.judge(history, cut)
        if errors or trouble:
            more = [f"and {len(errors) - SHOWN} more"] * (len(errors) > SHOWN)
            text = "\n    ".join([*errors[:SHOWN], *more, *trouble])
            raise AssertionError(f"{what}, cut {cut}:\n    {text}")
        self.counts["events"] += sum(map(len, history))
        return history

    def count(self, history, cut):
        """Counts what crosses a right cut, and whether a wrong cut would have been
        found: a cut that is moved to the end of one rank's log is mostly wrong."""
        messages, collectives = consistency.crossing(history, cut)
        self.counts["messages across the cuts"] += messages
        self.counts["cuts with messages across"] += messages > 0
        self.counts["collectives across the cuts"] += collectives
        rank = self.chance.randrange(self.ranks)
        moved = [*cut[:rank], len(history[rank]), *cut[rank + 1 :]]
        traffic = consistency.traffic_of(history)
        wrong = consistency.cut_errors(history, moved, traffic)
        self.counts["moved cuts found wrong"] += bool(wrong)


@contextlib.contextmanager
def _labs(directory, nodes, settings):
    """Yields a constructor of labs with `nodes` nodes, and their networks."""
    if nodes == 1:
        yield lambda place: Lab(place, **settings), NETWORKS
        return
    cluster = Cluster(directory / "cluster", nodes)
    try:
        yield lambda place: cluster.lab(place, holds=False, **settings), BETWEEN_NODES
    finally:
        cluster.close()


def run_cuts(
    directory, cuts, seed, *, ranks=(2, 4), nodes=1, protocol="sns", show=print
):
    """Judges `cuts` cuts of random programs on ranks[0] to ranks[1] ranks; returns the
    counts. Raises at the first wrong cut."""
    settings = {
        "CKPT_NAME": "cuts",
        "CKPT_KEEP": KEPT,
        "CKPT_PROTOCOL": protocol,
    }
    totals = Counter()
    chance = random.Random(seed)
    with _labs(directory, nodes, settings) as (make_lab, networks):
        while totals["cuts"] < cuts:
            place = directory / f"run{totals['runs']}"
            number = chance.randrange(2**30)
            run = Run(make_lab(place), networks, chance.randint(*ranks), number)
            totals += judge_run(run, cuts - totals["cuts"])
            subprocess.run(["rm", "-rf", place], check=True)
            show(f"{totals['cuts']} cuts: {dict(totals)}")
    return totals


def judge_run(run, most):
    """Judges up to `most` cuts of a run and of its restarts; returns the counts."""
    try:
        run.first(most)
        while run.unjudged:
            known = run.counts["cuts"] + len(run.unjudged)
            run.again(min(most, 3 * FIRST_CUTS) - known)
    except Exception as error:
        argv = " ".join(map(str, run.program.argv))
        raise AssertionError(f"{argv} on {run.ranks} ranks: {error}") from error
    finally:
        run.lab.close()
    return run.counts
