# SPDX-License-Identifier: BSD-3-Clause
"""concealed.py - programs whose outputs are concealed until a checkpoint commits."""

import collections
import json
import random
import re
from pathlib import Path

from . import inputs, non_mpi, trees

# Messages about failures of single objects.
COMPLAINT = re.compile(r"ckpt: .*(reveal|conceal|it stays|files cannot)")

SCRIPT = """
import os, sys, time
from mpi4py import MPI
world = MPI.COMM_WORLD
log = open("log.%d" % world.rank, "a")
for step in range({steps}):
    with open("data.%d.%d" % (world.rank, step), "w") as data:
        data.write("%d\\n" % step * 100)
    with open("tmp.%d" % world.rank, "w") as done:
        done.write("%d" % step)
    os.rename("tmp.%d" % world.rank, "done.%d" % world.rank)
    log.write("step %d\\n" % step)
    log.flush()
    print("rank", world.rank, "step", step, flush=True)
    if world.rank == 0:
        print("at", step, file=sys.stderr, flush=True)
    world.Barrier()
    time.sleep(0.03)
"""


class Producer:
    """Each step makes a file, then reports the step in a second file and in a log that stays
    open."""

    def __init__(self, lab, steps, ranks=2):
        self.lab, self.steps, self.ranks = lab, steps, ranks
        script = lab.directory / "producer.py"
        script.write_text(SCRIPT.format(steps=steps), encoding="utf-8")
        self.argv = ["/usr/bin/python3", "-B", script]
        self.name = "producer"

    def prepare(self, directory):
        """Makes what the program needs."""

    def step_of(self, rank):
        """Returns the rank's last step that other processes see; -1 if they see none."""
        path = self.lab.work / f"done.{rank}"
        return int(path.read_text(encoding="utf-8")) if path.exists() else -1

    def check_order(self):
        """Every reported step has its complete file."""
        for rank in range(self.ranks):
            for step in range(self.step_of(rank) + 1):
                data = self.lab.work / f"data.{rank}.{step}"
                assert data.read_text(encoding="utf-8") == f"{step}\n" * 100, data

    def check_state(self):
        """Each rank has everything up to its reported step; parts of the next step may exist."""
        for rank in range(self.ranks):
            step = self.step_of(rank)
            log = (self.lab.work / f"log.{rank}").read_text(encoding="utf-8").splitlines()
            assert log == [f"step {i}" for i in range(len(log))] and len(log) in (step, step + 1)
            found = {p.name for p in self.lab.work.glob(f"data.{rank}.*")}
            made = {f"data.{rank}.{i}" for i in range(step + 1)}
            assert made <= found <= made | {f"data.{rank}.{step + 1}"}
        self.check_order()

    def check_end(self):
        """Every rank has everything of all steps."""
        self.check_state()
        assert {self.step_of(rank) for rank in range(self.ranks)} == {self.steps - 1}

    def check_lines(self, lines):
        """Standard output has each line once."""
        found = collections.Counter(steps_in(lines))
        assert found == {
            f"rank {r} step {s}": 1 for r in range(self.ranks) for s in range(self.steps)
        }, found


def steps_in(lines):
    """Returns the lines that the producer wrote to its standard output."""
    return [line for line in lines if re.match(r"rank \d+ step \d+$", line)]


def start(lab, program, *options, **settings):
    """Starts the program under `ckpt run --files conceal`."""
    command = lab.mpirun_command(program)
    program.prepare(lab.work)
    return non_mpi.start(lab, *command, options=["--files", "conceal", *options], **settings)


def wait_until_revealed(lab, job):
    """Waits until the outputs of the newest checkpoint are revealed; returns the tree that other
    processes see."""

    def is_done():
        notes = [json.loads(p.read_text("utf-8")) for p in lab.store.glob("*/journal/revealed")]
        return any(note["is_done"] and note["checkpoint"] for note in notes)

    non_mpi.wait_until(job, is_done)
    return trees.look_at(lab.work)


def complaints(lines):
    """Returns ckpt's lines about failures."""
    return [line for line in lines if COMPLAINT.match(line)]


def run_tree(lab, kills, seed, ranks=2, steps=None):
    """Runs apps/tree_writer with `kills` kills at random moments; returns the counts."""
    chance = random.Random(seed)
    counts = collections.Counter()
    steps = steps or kills * trees.STEPS_PER_KILL
    directory = lab.directory / f"tree-{seed}"
    options = ["--interval", "300ms", "--back-off", "10ms", "--max-restarts", 10 * kills + 10]
    job = start(lab, TreeOf(trees.program(directory, steps, seed, ranks)), *options)
    newest = 0
    while counts["kills"] < kills and job.run_on(0.02):
        found = non_mpi.newest(lab.store)
        if found > newest and job.run_on(chance.uniform(0.05, 0.6)):
            newest = found
            counts["kills"] += inputs.kill_a_rank(lab, chance)
    lines = job.succeed(300)
    assert not [line for line in lines if "WRONG" in line], lines
    assert not complaints(lines), complaints(lines)
    shown = collections.Counter(line for line in lines if line.startswith("step "))
    assert set(shown.values()) == {1}, [line for line, n in shown.items() if n > 1]
    trees.require_same(trees.expected_tree(lab, steps, seed, ranks), trees.look_at(directory))
    assert not list(Path(directory).rglob(".ckpt*"))
    counts["checkpoints"] = non_mpi.newest(lab.store)
    return counts


class TreeOf:
    """A program that needs nothing to be prepared."""

    def __init__(self, program):
        self.program = program
        self.argv, self.ranks, self.name = program.argv, program.ranks, program.name

    def prepare(self, directory):
        """Does nothing: the program makes its own files."""
