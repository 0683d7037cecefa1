# SPDX-License-Identifier: BSD-3-Clause
"""replays.py - runs programs on windows under `ckpt run --protocol independent`, and kills one rank
after the other at random moments.

Each rank writes into a file the number of each step that it begins, and a number computed from
everything that it has seen by then. From these files the tests learn which ranks repeated steps,
and when all ranks were further than at the kill. They also check that a replayed rank has seen the
same values again.
"""

import itertools
import re
import shutil
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from . import non_mpi, processes, recoveries, windows
from .job import JobError
from .lab import POLL, Lab
from .settings import TIMEOUT

RANKS = 3
LONG = 3 * TIMEOUT  # ranks that synchronise all the time are slow when others need the cores
LONGEST_REST = 0.7  # seconds between two kills, at most
LONGEST_END = 900  # seconds from the last kill to the result, at most

NOT_REPLAYED = re.compile(r"^ckpt: rank \d+ .*; it is not replayed: (.*?)(?:; the rest of .*)?$")
REPLAYED = re.compile(r"^ckpt: rank \d+ .*; it is replayed(,| in place, )")
IN_PLACE = re.compile(
    r"^ckpt: rank (\d+) has died; it is replayed in place, .* after (\S+ \w+)$", re.MULTILINE
)
RESTART = re.compile(r"^ckpt: .*; restart \d+ of at most ")
IN_PLACE_OR_NOT = re.compile(f"{IN_PLACE.pattern}|{RESTART.pattern}")

# One of them, `absent`, has a rank that takes no independent checkpoint for a long time. Steps and
# size: some ten seconds of three ranks on two processors.
SIZES = {
    "barnes": (2000, 500),
    "batches": (12000, 500),
    "hash_table": (600, 2000),
    "open_epoch": (60, 1000),
    "shared_bytes": (12000, 3000),
    "shared_counter": (20000, 50),
    "stencil": (40000, 256),
    "uneven": (60000, 1000),
    "water_nsquared": (5000, 300),
    "water_spatial": (5000, 300),
    "work_queue": (3000, 32),
}
WAYS = {
    " ".join([name, *way]): (name, way)
    for name, ways in windows.WAYS.items()
    for way in ways
    if name in SIZES
}


def is_replayable(status, ranks=RANKS):
    """Whether each rank has an independent checkpoint from which it could go on now."""
    own = status.get("independent", [])
    return len(own) == ranks and all(rank["replayable"] for rank in own)


def is_saved(status):
    """Whether there is a global checkpoint of this launch."""
    return status["committed"] > 0


def start(lab, name, program, *options, without_mpirun=False, **settings):
    """Starts a job with this name and independent checkpoints."""
    program.prepare(lab.work)
    command = lab.mpirun_command(program)
    if without_mpirun:
        options, command = (*options, "-n", program.ranks), program.argv
    run = [lab.ckpt_program, "run", "--name", name, *STAGED, *options, "--"]
    return lab._start([*run, *command], settings)  # pylint: disable=protected-access


class RollBack:
    """A job in which a killed rank rolls back, and no other one does."""

    def __init__(self, lab, name, program, ranks, *options, **settings):
        """program: (name, steps, size, way) of one of windows.WAYS; the rest as in start()."""
        self._prefix = lab.directory / "progress"
        self._lab, self._name, self._ranks = lab, name, ranks
        program, steps, size, way = program
        self._program = windows.program(
            program, steps, size, ranks=ranks, way=[*way, f"--progress={self._prefix}"]
        )
        self.job = start(lab, name, self._program, *options, **settings)

    def finish(self, victim, expected):
        """Finishes the job. Rank `victim` has been killed, or a fault will kill it."""
        self.job.wait_for(f"^ckpt: rank {victim} .*; it is replayed")
        self.job.wait_for(
            f"^ckpt: rank {victim} .*; restart 1 of at most 10, from {self._name}/1"
        )
        self.job.succeed(LONG)
        assert self._lab.answer(self._program, self.job) == expected
        restarts = [line for line in self.job.lines if RESTART.match(line)]
        assert len(restarts) == 1, restarts
        for rank in set(range(self._ranks)) - {victim}:
            steps = self._steps(rank)
            assert steps == sorted(set(steps)), "a survivor went back"
        assert len(set(self._told(victim))) == len(
            set(self._steps(victim))
        ), "the replay has seen something else"

    def _told(self, rank):
        return Path(f"{self._prefix}.{rank}").read_text("ascii").splitlines()

    def _steps(self, rank):
        return [int(line.split()[0]) for line in self._told(rank)]


@dataclass(frozen=True)
class Plan:
    """How to run and to kill jobs."""

    options: tuple  # of ckpt run
    is_ready: Callable  # whether a job of this status may be killed
    blind: float = 0  # share of kills that do not wait for is_ready
    hasty: float = 0  # share of kills without any wait before the next one


STAGED = ("--protocol", "independent")
DIRECT = (*STAGED, "--windows", "direct")
INDEPENDENT = Plan(STAGED, is_replayable)
COORDINATED = Plan(("--interval", 1), is_saved)
# by how puts work; with and without global checkpoints
ROUGH = {
    puts: [
        Plan(options, is_replayable, blind=0.1, hasty=0.15),
        Plan((*options, "--interval", 1), is_replayable, blind=0.1, hasty=0.15),
    ]
    for puts, options in {"staged": STAGED, "direct": DIRECT}.items()
}


class Progress:
    """The steps that each rank has begun, in order, from its file; and the rank's number for
    everything seen before each step."""

    def __init__(self, prefix, ranks):
        self.paths = [Path(f"{prefix}.{rank}") for rank in range(ranks)]
        self.steps = [[] for _ in range(ranks)]
        self.seen = [[] for _ in range(ranks)]
        self.newest = [-1] * ranks
        self._read = [0] * ranks

    def look(self):
        """Reads the lines that are new since the last call."""
        for rank, path in enumerate(self.paths):
            if not path.exists():
                continue
            with open(path, "rb") as file:
                file.seek(self._read[rank])
                text = file.read()
            text = text[: text.rfind(b"\n") + 1]
            self._read[rank] += len(text)
            words = text.split()
            new = [int(word) for word in words[::2]]
            self.steps[rank] += new
            self.seen[rank] += words[1::2]
            self.newest[rank] = max([self.newest[rank], *new])

    def counts(self):
        """Returns the number of lines in each file."""
        return [len(steps) for steps in self.steps]


@dataclass
class Kill:
    """The kill of a rank."""

    way: str
    rank: int
    line: int  # the output's first line after the kill
    begun: list  # lines of each rank at the kill
    restarts: int = 0
    computing: float = 0  # until each rank had begun a step in the new launch
    seconds: float = 0  # until each rank had begun a new step; 0: the job ended
    why_not: str = ""  # why the rank was not replayed
    compared: int = 0  # repeated steps at which the rank saw the same


class Run:
    """One job, from its start to the right answer."""

    def __init__(self, directory, way, chance, plan):
        name, options = WAYS[way]
        self.last_step = SIZES[name][0] - 1
        self.way = way
        self.chance = chance
        self.plan = plan
        self.lab = Lab(directory)
        self.kills = []
        prefix = self.lab.directory / "progress"
        self.progress = Progress(prefix, RANKS)
        options = [*options, f"--progress={prefix}"]
        self.program = windows.program(name, *SIZES[name], ranks=RANKS, way=options)
        self.program.prepare(self.lab.work)
        options = [*plan.options, "--max-restarts", 1000, "--back-off", 0]
        command = self.lab.mpirun_command(self.program)
        # The undone steps stay in the files of progress.
        self.job = non_mpi.start(self.lab, *command, options=options, CKPT_FILES="ignore")

    def close(self):
        """Removes everything that is left."""
        self.lab.close()

    def _await_ranks(self, is_ready):
        """Waits until all ranks run and the job is ready; returns their process ids. None: the job
        is over."""
        deadline = time.monotonic() + TIMEOUT
        while self.job.run_on(POLL):
            status = non_mpi.status(self.lab)
            if status and len(status["ranks"]) == RANKS and is_ready(status):
                return {rank["rank"]: rank["pid"] for rank in status["ranks"]}
            if time.monotonic() > deadline:
                raise JobError(self.job, f"no ranks that can be killed: {status}")
        return None

    def kill_once(self, rank=None):
        """Kills this rank, or a random one, at a random moment, and waits for the recovery. Returns
        False if the job is over."""
        is_hasty = self.kills and not self.kills[-1].computing
        is_blind = is_hasty or self.chance.random() < self.plan.blind
        pids = self._await_ranks((lambda _: True) if is_blind else self.plan.is_ready)
        if pids is None or not self.job.run_on(self.chance.uniform(0, LONGEST_REST)):
            return False
        rank = self.chance.randrange(RANKS) if rank is None else rank
        self.progress.look()
        self.settle()
        kill = Kill(self.way, rank, len(self.job.lines), self.progress.counts())
        begin = time.monotonic()
        processes.kill(pids[rank])
        if not self._await_restart(kill.line):
            self.progress.look()
            assert self.last_step in self.progress.newest, "nothing followed a kill"
            return False
        self.kills.append(kill)
        return self._watch_return(kill, begin)

    def settle(self):
        """Determines the result of the newest kill from the output since then."""
        if self.kills:
            kill = self.kills[-1]
            lines = self.job.lines[kill.line :]
            kill.restarts = sum(1 for line in lines if IN_PLACE_OR_NOT.match(line))
            kill.why_not = self._why_not(lines)

    def _watch_return(self, kill, begin):
        """Measures how the ranks come back. Returns False if the job is over."""
        if self.chance.random() < self.plan.hasty:
            return True
        self.progress.look()
        begun, newest = self.progress.counts(), list(self.progress.newest)
        if not self._await_all(self.progress.counts, begun):
            return False
        kill.computing = time.monotonic() - begin
        if not self._await_all(lambda: self.progress.newest, newest):
            return False
        kill.seconds = time.monotonic() - begin
        return True

    def _await_restart(self, first_line):
        """Waits until `ckpt run` reports a restart while no rank runs. Returns False if the job is
        over."""
        return self._await_line(RESTART, first_line)

    def _await_line(self, pattern, first_line):
        deadline = time.monotonic() + TIMEOUT
        while not any(pattern.match(line) for line in self.job.lines[first_line:]):
            if time.monotonic() > deadline:
                raise JobError(self.job, "a rank was killed, and nothing follows")
            if not self.job.run_on(POLL / 4):
                return any(pattern.match(line) for line in self.job.lines[first_line:])
        return True

    def _await_all(self, numbers, before):
        """Waits until each of these numbers is larger than before. Returns False if the job is
        over."""
        deadline = time.monotonic() + TIMEOUT
        while any(new <= old for new, old in zip(numbers(), before, strict=True)):
            if time.monotonic() > deadline:
                raise JobError(self.job, f"{numbers()} is not beyond {before}")
            if not self.job.run_on(POLL / 4):
                return False
            self.progress.look()
        return True

    @staticmethod
    def _why_not(lines):
        """Returns the reason in these lines why no replay followed a kill, or ''."""
        for line in lines:
            if found := NOT_REPLAYED.match(line):
                return re.sub(r"\d+", "N", found[1])
        return "" if any(REPLAYED.match(line) for line in lines) else "not told"

    def check(self, expected):
        """After the job's end: checks that the answer is right, and calls check_steps()."""
        self.finish(expected)
        self.check_steps()

    def finish(self, expected):
        """Awaits the job's end, and checks that the answer is right."""
        self.job.succeed(LONGEST_END)
        self.settle()
        answer = self.lab.answer(self.program, self.job)
        assert answer == expected, f"{answer} instead of {expected}"

    def check_steps(self):
        """Checks that only killed ranks repeated steps, except after a global checkpoint."""
        self.progress.look()
        parts = [Kill(self.way, -1, 0, [0] * RANKS), *self.kills]
        ends = [*(kill.begun for kill in self.kills), self.progress.counts()]
        for kill, end in zip(parts, ends, strict=True):
            for rank in range(RANKS):
                self._check_part(rank, kill, end[rank])
            if kill.restarts and not kill.why_not:
                kill.compared = self._compare(kill, end[kill.rank])

    def _compare(self, kill, end):
        """Counts the repeated steps at which the killed rank saw the same as before."""
        steps, seen = (each[kill.rank] for each in (self.progress.steps, self.progress.seen))
        begun = slice(kill.begun[kill.rank])
        before = dict(zip(steps[begun], seen[begun], strict=True))
        again = range(kill.begun[kill.rank], end)
        again = [i for i in again if steps[i] <= steps[kill.begun[kill.rank] - 1]]
        other = [steps[i] for i in again if seen[i] != before[steps[i]]]
        assert not other, f"it has seen something else before steps {other} after {kill}"
        return len(again)

    def _check_part(self, rank, kill, end):
        """Checks a rank's steps from a kill to the next one, and the last step before."""
        steps = self.progress.steps[rank][max(0, kill.begun[rank] - 1) : end]
        others = [(a, b) for a, b in itertools.pairwise(steps) if b != a + 1]
        may_go_back = kill.restarts if rank == kill.rank or kill.why_not else 0
        wrong = f"rank {rank} went from step to step {others} after {kill}"
        assert all(b <= a for a, b in others) and len(others) <= may_go_back, wrong


class RunInPlace(Run):
    """One job whose killed ranks are replayed beside the others."""

    # pylint: disable-next=super-init-not-called
    def __init__(self, lab, way, chance, mpirun, **settings):
        name, options = WAYS[way]
        self.last_step = SIZES[name][0] - 1
        self.way = way
        self.chance = chance
        self.plan = INDEPENDENT
        self.lab = lab
        self.kills = []
        prefix = lab.directory / "progress"
        self.progress = Progress(prefix, RANKS)
        options = [*options, f"--progress={prefix}"]
        self.program = windows.program(name, *SIZES[name], ranks=RANKS, way=options)
        # The undone steps stay in the files of progress.
        settings = {"CKPT_FILES": "ignore", **settings}
        self.job = recoveries.start(lab, self.program, options=STAGED, mpirun=mpirun, **settings)

    def all_ranks(self, is_ready):
        """Returns the process ids of all ranks by number, if all are there and the job is ready."""
        return self._await_ranks(is_ready)

    def _await_restart(self, first_line):
        return self._await_line(IN_PLACE_OR_NOT, first_line)


@dataclass
class Totals:
    """The totals of a campaign."""

    kills: list = field(default_factory=list)
    jobs: Counter = field(default_factory=Counter)  # by way
    failed: list = field(default_factory=list)  # (way, directory, error)


def expected_of(directory, way):
    """Returns the answer of one undisturbed rank."""
    name, options = WAYS[way]
    return windows.result_in_one_rank(directory, name, *SIZES[name], options)


def run_one(directory, way, chance, plan, expected, most, totals):
    """Runs one job, with at most `most` kills. Notes errors, and writes them to the file `evidence`
    in the directory that keeps the job's files."""
    run = Run(directory, way, chance, plan)
    totals.jobs[way] += 1
    try:
        while len(run.kills) < most and run.kill_once():
            pass
        run.check(expected)
    except (AssertionError, OSError) as error:
        (directory / "evidence").write_text(
            "\n".join([f"{error}", *map(str, run.kills), *run.job.lines, ""])
        )
        totals.failed.append((way, directory, str(error).splitlines()[0]))
    else:
        run.close()
        shutil.rmtree(directory)
    finally:
        run.close()
    totals.kills += run.kills
