# SPDX-License-Identifier: BSD-3-Clause
"""batch.py - the sessions with Slurm of campaign-slurm: Slurm preempts one job twice; another job
needs five minutes and has a limit of two."""

import re
import shutil
import time

from . import programs, slurm
from .lab import Lab
from .settings import TOP

SCRIPT = TOP / "docs/slurm/mpirun.sbatch"
TOLD = re.compile(r"^ckpt: |^Loop time|^OK ")
ENDED = ("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL")


class Log:
    """Events of a job, with the seconds since its submission."""

    def __init__(self, job):
        self.job = job
        self.began = time.monotonic()
        self.known = None
        self.shown = 0

    def say(self, text):
        """Prints a line of the log."""
        print(f"{time.monotonic() - self.began:6.1f} s  {text}", flush=True)

    def look(self):
        """Prints new events; returns what Slurm says about the job."""
        facts = self.job.facts()
        lines = self.job.lines
        for line in lines[self.shown :]:
            if TOLD.match(line):
                self.say(f"    {line}")
        self.shown = len(lines)
        known = (facts["JobState"], facts["NodeList"], facts["Restarts"])
        if known != self.known:
            start = int(known[2]) + 1
            self.say(f"job {self.job.number}: {known[0]} {known[1]} (start {start})")
            self.known = known
        return facts

    def until(self, condition, seconds=1200):
        """Calls look() until the condition holds for what Slurm says."""
        while not condition(facts := self.look()):
            assert time.monotonic() - self.began < seconds, facts
            time.sleep(slurm.POLL)
        return facts


def _place(directory, program):
    directory.mkdir(parents=True)
    program.prepare(directory)
    (directory / "app").symlink_to(shutil.which(program.argv[0]))


def _submit(cluster, directory, program, *options):
    """Submits the unchanged example script; returns the job's log."""
    _place(directory, program)
    arguments = [str(word) for word in program.argv[1:]]
    job = cluster.submit(directory, SCRIPT, *arguments, options=options)
    log = Log(job)
    log.say(f"$ sbatch {' '.join(options)} mpirun.sbatch {' '.join(arguments)}")
    return log


def _finish(log, directory, program, expected):
    """Waits for the job's end, which must be right; returns how often the job was started again."""
    facts = log.until(lambda facts: facts["JobState"] in ENDED)
    log.look()  # prints the job's last lines
    assert facts["JobState"] == "COMPLETED", facts
    assert program.answer(log.job.lines, directory) == expected, "another answer"
    log.say("its results are those of an undisturbed run")
    return int(facts["Restarts"])


def preempted(cluster, directory, steps, times):
    """Runs LAMMPS while jobs of a higher priority take its nodes."""
    program = programs.lammps(steps, every=50)
    expected = Lab(directory / "native").run_native(program).answer
    log = _submit(cluster, directory / "work", program, "--nodes=2", "--ntasks-per-node=1")
    other = directory / "other"
    other.write_text("#!/bin/sh\nsleep 5\n", encoding="utf-8")
    for turn in range(1, times + 1):
        step = turn * steps // (times + 1) // 50 * 50
        line = re.compile(rf"^ +{step} ")
        log.until(lambda _, line=line: any(map(line.match, log.job.lines)))
        log.say(f"step {step}: another job is submitted with a higher priority")
        options = ["--partition=high", "--nodes=2", "--exclusive"]
        winner = cluster.submit(directory, other, options=options)
        log.until(lambda _, winner=winner: winner.facts()["JobState"] in ("RUNNING", "COMPLETED"))
        log.say(f"job {winner.number}, of the higher priority, runs")
        begun = {"Restarts": str(turn), "JobState": "RUNNING"}
        log.until(lambda facts, begun=begun: begun.items() <= facts.items())
    return _finish(log, directory / "work", program, expected)


def limited(cluster, directory, minutes, limit):
    """Runs a job that needs `minutes`, under a smaller time limit."""
    pause = 0.1  # seconds of a step
    steps = int(minutes * 60 / pause)
    program = programs.memory(32, steps, pause_us=int(pause * 1e6))
    at_once = programs.memory(32, steps)
    expected = Lab(directory / "native").run_native(at_once).answer
    options = [f"--time={limit}", "--signal=B:USR1@30"]
    log = _submit(cluster, directory / "work", program, *options)
    return _finish(log, directory / "work", program, expected)
