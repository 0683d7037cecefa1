# SPDX-License-Identifier: BSD-3-Clause
"""failures.py - a job of `ckpt run` on nodes that fail at random moments, until it ends.

Each run has four nodes, two of them spare, and a fifth node on which `ckpt run` runs. The injector
reports each failure; the output of `ckpt run` shows its reaction.
"""

import re
import signal
import subprocess
import time
from collections import Counter, defaultdict
from pathlib import Path

from . import processes
from .cluster import Cluster
from .job import JobError
from .lab import Lab

NAME = "job"
NODES = 4
SPARES = 2
TIMEOUT = 180  # seconds for a job to go on
NOTICED = re.compile(r"^ckpt: .*(the rest of the job is ended|; restart \d+ of)")
RESTART = re.compile(r"^ckpt: .*; restart \d+ of")


class NoRanks(Exception):
    """The program has ended."""


class Injector:
    """Makes failures of a running job."""

    def __init__(self, box, program, chance):
        self.box = box
        self.name = Path(program.argv[0]).name
        self.chance = chance
        self.cut_off = None  # the node that link_cut() disconnected

    def ranks(self):
        """Returns (node, process id) of each rank."""
        return [
            (node, pid)
            for node in self.box.names
            for pid in self.box.processes(node)
            if processes.name_of(pid) == self.name
        ]

    def _known_ranks(self):
        found = self.ranks()
        if not found:
            raise NoRanks
        return found

    def _rank(self):
        return self.chance.choice(self._known_ranks())

    def first_node(self):
        """Returns the node of rank 0, which is the first one in use."""
        return self._known_ranks()[0][0]

    def random_node(self):
        """Returns a random node that has ranks."""
        return self._rank()[0]

    def rank_killed(self):
        """SIGKILL to a rank."""
        processes.kill(self._rank()[1])

    def rank_stopped(self):
        """SIGSTOP to a rank."""
        processes.send(self._rank()[1], signal.SIGSTOP)

    def agent_killed(self):
        """SIGKILL to an agent; this is not a failure of the job."""
        self.box.kill(self._rank()[0], only="ckptd")

    def agent_killed_and_rank_stopped(self):
        """Stops a rank before, while, or just after it finds another agent."""
        node, rank = self._rank()
        self.box.kill(node, only="ckptd")
        time.sleep(self.chance.uniform(0, 0.1))
        processes.send(rank, signal.SIGSTOP)

    def node_killed(self):
        """SIGKILL to all processes of a node at once."""
        self.box.kill(self._rank()[0])

    def coordinator_killed(self):
        """SIGKILL to all processes of the node of rank 0."""
        self.box.kill(self.first_node())

    def link_cut(self):
        """Cuts a node's link: its ranks and agent live, but no other node hears from them."""
        self.cut_off = self._rank()[0]
        self.box.cut(self.cut_off)

    def switch_off(self):
        """Kills the processes of the disconnected node: Open MPI's daemon there would never end,
        and it has the job's output open."""
        if self.cut_off is not None:
            self.box.kill(self.cut_off)
            self.cut_off = None

    def two_nodes_killed(self):
        """SIGKILL to all processes of both nodes with ranks."""
        for node in {node for node, _ in self.ranks()}:
            self.box.kill(node)


# Each kind, with the number of nodes that it takes away. A migration is not a failure, but it
# happens to jobs as well: it needs a spare node, and makes another node spare.
KINDS = {
    "rank_killed": 0,
    "rank_stopped": 0,
    "agent_killed": 0,
    "agent_killed_and_rank_stopped": 1,  # a node, if no process is left on it
    "node_killed": 1,
    "coordinator_killed": 1,
    "link_cut": 1,
    "two_nodes_killed": 2,
    "node_killed_in_checkpoint": 1,
    "rank_killed_in_restart": 0,
    "migrated": 0,
}


class Run:
    """One job, from its start to the right answer."""

    def __init__(self, directory, program, chance, levels=""):
        self.program = program
        self.chance = chance
        self.box = Cluster(directory / "cluster", NODES)
        self.lab = self.box.lab(directory / "lab", head=True, holds=False)
        self.injector = Injector(self.box, program, chance)
        self.spares = SPARES
        self.newest = 0  # the checkpoint at the last failure
        self.counts = Counter()
        self.times = defaultdict(list)  # kind -> (noticed, restarted, running)
        program.prepare(self.lab.work)
        command = [self.lab.ckpt_program, "run", "--name", NAME, "--spares", SPARES]
        command += ["--levels", levels] if levels else []
        command += ["--interval", "1", "--max-restarts", 1000, "--"]
        # pylint: disable-next=protected-access
        self.job = self.lab._start(
            [*command, *self.lab.mpirun_command(program)], {}
        )

    def tell(self):
        """Prints all that is known about a job that went wrong."""
        print(*self.job.lines, sep="\n")
        for node in self.box.names:
            places = f"/dev/shm/ckpt-*/{NAME} {self.lab.store / NAME}"
            show = f"find {places} -name 'ckptd-*.log' | xargs tail -n 60"
            done = subprocess.run(
                self.box.command(node, "sh", "-c", show),
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
                check=False,
            )
            print(f"{node}:", done.stdout, done.stderr, sep="\n")

    def close(self):
        """Removes everything that is left."""
        self.lab.close()
        self.box.close()

    def _await(self, pattern, begin):
        """Seconds from `begin` to the next line with the pattern."""
        self.job.wait_for(pattern, timeout=TIMEOUT)
        index = self.job._next - 1  # pylint: disable=protected-access
        return self.job.times[index] - begin

    def _await_step(self, begin):
        """Returns the seconds until the program shows progress; None if the program printed its
        last step before, and has ended since."""
        try:
            return self._await(self.program.progress, begin)
        except JobError:
            if self.job.run_on(0):
                raise
            return None

    def _inject(self, kind):
        if kind == "node_killed_in_checkpoint":
            waits = self.lab.on(self.injector.first_node()).ckpt_in_background(
                "checkpoint", NAME
            )
            self.injector.node_killed()
            waits.communicate()
        elif kind == "rank_killed_in_restart":
            self.injector.rank_killed()
            self.job.wait_for(RESTART, timeout=TIMEOUT)
            deadline = time.monotonic() + TIMEOUT
            while not self._restarting():
                assert time.monotonic() < deadline
                self.job.run_on(0.01)
            processes.kill(self._restarting()[0])
        elif kind == "migrated":
            self._migrate()
        else:
            getattr(self.injector, kind)()

    def _migrate(self):
        """Migrates a rank away from its node."""
        node = self.injector.random_node()
        done = self.lab.ckpt("migrate", NAME, "--from", node)
        if done.returncode != 0 and not self.job.run_on(1):
            raise NoRanks
        assert done.returncode == 0, done

    def _migrated(self, begin):
        """Measures as fail_once() does: stopped, started again, running."""
        moved = time.monotonic() - begin
        started = self._await(rf"^ckpt: the job goes on from {NAME}/\d+", begin)
        return self._note("migrated", moved, started, self._await_step(begin))

    def _note(self, kind, *times):
        """Notes how long a failure took, if the program has shown that it runs again. Returns False
        if the job is over."""
        if None not in times:
            self.times[kind].append(times)
        return None not in times

    def _restarting(self):
        """Returns the ranks of the launch that has just begun, in whatever state."""
        return [
            pid
            for node in self.box.names
            for pid in self.box.processes(node)
            if processes.name_of(pid) in ("ckpt-restart", self.injector.name)
        ]

    def _is_saved_anew(self):
        """Waits for a checkpoint since the last failure: `ckpt run` gives up a program whose rank
        is killed again and again without a checkpoint. Returns False if the job is over."""
        deadline = time.monotonic() + TIMEOUT
        while True:
            numbers = [entry["number"] for entry in self.lab.checkpoints()]
            if max(numbers, default=0) > self.newest:
                self.newest = max(numbers)
                return True
            if time.monotonic() >= deadline:
                status = self.lab.ckpt("status", NAME, "--json").stdout
                raise JobError(self.job, f"not saved in {TIMEOUT} s: {status}")
            if not self.job.run_on(0.1):
                return False

    def fail_once(self):
        """Makes one failure at a random moment and waits for the recovery. Returns False if the job
        is over."""
        if not self._is_saved_anew() or not self.job.run_on(self.chance.uniform(0, 2)):
            return False
        kinds = [kind for kind, nodes in KINDS.items() if nodes <= self.spares]
        if self.spares == 0:
            kinds.remove("migrated")
        kind = self.chance.choice(kinds)
        self.job._next = len(self.job.lines)  # pylint: disable=protected-access
        begin = time.monotonic()
        try:
            self._inject(kind)
        except NoRanks:
            return False
        self.spares -= KINDS[kind]
        self.counts[kind] += 1
        print(f"{kind}, {self.spares} nodes are spare", flush=True)
        if kind == "agent_killed":
            return self.job.run_on(0)
        if kind == "migrated":
            return self._migrated(begin)
        noticed = self._await(NOTICED, begin)
        if not RESTART.match(self.job.lines[self.job._next - 1]):
            restarted = self._await(RESTART, begin)
        else:
            restarted = noticed
        running = self._await_step(begin)
        self.injector.switch_off()
        return self._note(kind, noticed, restarted, running)


def run_failures(directory, make_program, count, chance, levels=""):
    """Runs jobs until there have been `count` failures; returns (counts, times). The jobs are
    short, as each can lose no more nodes than it has spare ones."""
    counts, times = Counter(), defaultdict(list)
    native = None
    failures = [kind for kind in KINDS if kind != "migrated"]
    while sum(counts[kind] for kind in failures) < count:
        program = make_program()
        if native is None:
            lab = Lab(directory / "native")
            native = lab.run_native(program).answer
            lab.close()
        run = Run(directory / f"run{counts['jobs']}", program, chance, levels)
        try:
            while sum((counts + run.counts)[kind] for kind in failures) < count:
                if not run.fail_once():
                    break
            run.job.succeed(10 * TIMEOUT)
            assert run.lab.answer(program, run.job) == native
            counts["right answers"] += 1
        except Exception:
            run.tell()
            raise
        finally:
            run.close()
        counts += run.counts
        counts["jobs"] += 1
        for kind, measured in run.times.items():
            times[kind] += measured
    return counts, times
