# SPDX-License-Identifier: BSD-3-Clause
"""trees.py - kills a program that changes a tree of files at random moments, also during the
rollback of its files. The tree must equal the tree of an undisturbed run."""

import collections
import os
import random
import signal
import stat
from pathlib import Path

from . import refusals
from .programs import Program
from .settings import APPS

STEPS_PER_KILL = 30
PAUSE_US = 15000
LONGEST_RUN = 0.25  # seconds from a checkpoint to the kill
# Points of a rollback, and how often a rollback reaches each at most.
FAULTS = {
    "rollback-before-record": 1,
    "rollback-after-record": 1,
    "rollback-before-rename": 10,
    "rollback-after-step": 30,
    "rollback-before-done": 1,
    "rollback-after-done": 1,
    "rollback-during-removal": 3,
}


def look_at(directory):
    """Returns all that is visible of a tree, by path: type, mode, content, time if the program has
    set it, and the first name of the same file."""
    seen = {}
    first_names = {}
    for path in sorted(Path(directory).rglob("*")):
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            content = os.readlink(path)
        else:
            content = path.read_bytes() if stat.S_ISREG(status.st_mode) else None
        set_by_program = status.st_mtime < 1_200_000_000
        name = str(path.relative_to(directory))
        seen[name] = (
            stat.S_IFMT(status.st_mode),
            stat.S_IMODE(status.st_mode),
            content,
            status.st_mtime_ns if set_by_program else 0,
            first_names.setdefault((status.st_dev, status.st_ino), name),
        )
    return seen


def require_same(expected, found):
    """Fails with the names that differ."""
    every = expected.keys() | found.keys()
    names = [name for name in every if expected.get(name) != found.get(name)]
    assert not names, {name: (expected.get(name), found.get(name)) for name in sorted(names)[:3]}


def program(directory, steps, seed, ranks):
    """Returns apps/tree_writer, in an empty directory."""
    directory.mkdir()
    argv = [APPS / "tree_writer", directory, steps, seed, PAUSE_US]
    return Program("tree_writer", argv, ranks)


def expected_tree(lab, steps, seed, ranks):
    """Returns the tree of an undisturbed run."""
    directory = lab.directory / f"expected-{seed}"
    lab.start_native(program(directory, steps, seed, ranks)).succeed()
    return look_at(directory)


def _die_while_rolling_back(lab, moments, counts):
    """Kills a restart during its rollback: at a named point, or at any moment."""
    if moments.randrange(4) == 0:
        job = lab.restart()
        job.run_on(moments.random() * LONGEST_RUN)
        job.kill()
        counts["restarts killed at any moment"] += 1
        return
    point, most = moments.choice(list(FAULTS.items()))
    fault = f"{point}:{moments.randint(1, most)}"
    job = lab.restart(CKPT_FAULT=fault)
    code = job.finish() if not job.run_on(0.5) else None
    if code is None:  # the rollback ended before that point
        job.kill()
        counts["points not reached"] += 1
    else:
        assert code == -signal.SIGKILL, (code, job.lines[-5:])
        counts["roll backs killed"] += 1


def run(lab, kills, seed, ranks=2):
    """Kills a run `kills` times; returns the counts."""
    moments = random.Random(seed)
    counts = collections.Counter()
    steps = kills * STEPS_PER_KILL
    directory = lab.directory / f"tree-{seed}"
    job = lab.start(program(directory, steps, seed, ranks))
    while counts["kills"] < kills:
        job.wait_for(r"^step ")
        job.run_on(moments.random() * LONGEST_RUN)
        if not job.run_on(0):
            break
        done = lab.ckpt("checkpoint", str(job.pid))
        if refusals.identity(done.stderr) in refusals.OF_CHILDREN:
            counts["checkpoints refused"] += 1  # a short-lived child refuses it: try again soon
            continue
        if done.returncode != 0:
            assert not job.run_on(5), done.stderr  # the job was about to end
            break
        if not job.run_on(moments.random() * LONGEST_RUN):
            break
        lab.kill_and_wait_for_agent(job)
        counts["kills"] += 1
        _die_while_rolling_back(lab, moments, counts)
        job = lab.restart()
    lines = job.succeed()
    assert not [line for line in lines if "WRONG" in line], lines
    require_same(expected_tree(lab, steps, seed, ranks), look_at(directory))
    assert not list(Path(directory).rglob(".ckpt*"))
    counts["restarts"] = counts["kills"]
    return counts
