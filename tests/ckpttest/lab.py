# SPDX-License-Identifier: BSD-3-Clause
"""lab.py - a scratch place in which jobs are run, saved, killed, restarted."""

import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from . import processes
from .job import Job
from .settings import INSTALL, MPIRUN, TIMEOUT, TUNE, environment

WAIT_FILE = ".may-not-end"  # in the working directory of the programs
AGENT_TIMEOUT = 10  # seconds for the agent of a killed job to end by itself
POLL = 0.02  # seconds between polls of a state that cannot be waited for


@dataclass
class Outcome:
    """How a run ended, over all its parts."""

    answer: object
    lines: list
    seconds: float


class Lab:
    """The jobs in a working directory and a checkpoint directory.

    With `holds` no program of apps/ ends before Job.finish(), succeed() or let_end() is called,
    however slow the machine and the test are (apps/may_end.h).
    """

    ckpt_program = INSTALL / "bin/ckpt"

    def __init__(self, directory, mpirun=MPIRUN, holds=False, **settings):
        self.directory = Path(directory)
        self.work = self.directory / "work"
        self.store = self.directory / "store"
        self.mpirun = mpirun
        self.holds = holds
        self._holds = set()  # the files that keep programs from ending
        self.settings = settings  # environment of everything started here
        self.jobs = []
        self.work.mkdir(parents=True, exist_ok=True)

    def close(self):
        """Kills what still runs. Returns when no process of this lab is left, as a
        process may still write in its directories: an agent outlives its job."""
        for job in self.jobs:
            job.kill()
        left = processes.started_with("CKPT_DIR", self.environment()["CKPT_DIR"])
        if not processes.wait_until_gone(left, AGENT_TIMEOUT):
            for pid in left:
                processes.kill(pid)
            assert processes.wait_until_gone(left, TIMEOUT), f"{left} do not go away"

    def environment(self, **more):
        """Returns the environment of the jobs and commands of this lab."""
        ours = {
            "CKPT_DIR": self.store,
            # Most tests are about restarts. Those of recovery in place choose otherwise.
            "CKPT_KEEP_COPIES": "no",
            # A killed mpirun leaves the files of its job, and mpirun 5.0 does not start where one
            # with the same process id has left some.
            "OMPI_MCA_orte_tmpdir_base": self.directory,
            "PRTE_MCA_prte_tmpdir_base": self.directory,
        }
        return environment(**{**ours, **self.settings, **more})

    def mpirun_command(self, program, *options):
        """Returns the command line of a program, without ckpt."""
        ranks = ["--oversubscribe", "-np", program.ranks]
        return [self.mpirun, *options, *ranks, *program.argv]

    def wrap(self, command):
        """Returns the command as this lab runs it."""
        return command

    def _hold(self):
        """Keeps a program that starts now from ending before its test lets it."""
        path = self.work / WAIT_FILE
        path.touch()
        self._holds.add(path)

    def _start(self, command, more, stdin=subprocess.DEVNULL):
        if self.holds:
            self._hold()
        environment_of_job = self.environment(**more)
        job = Job(self.wrap(command), self.work, environment_of_job, stdin, self._holds)
        self.jobs.append(job)
        return job

    def start_native(self, program, **more):
        """Starts a program under plain mpirun."""
        program.prepare(self.work)
        return self._start(self.mpirun_command(program), more)

    def start(self, program, **more):
        """Starts a program under mpirun with our parameter file."""
        program.prepare(self.work)
        return self._start(self.mpirun_command(program, "--tune", TUNE), more)

    def restart(self, checkpoint=None, *, options=(), **more):
        """Restarts a checkpoint, the newest one unless it is named."""
        command = [self.ckpt_program, "restart"]
        command += [checkpoint] if checkpoint else []
        command += ["--", *options] if options else []
        return self._start(command, more)

    def ckpt(self, *words, timeout=TIMEOUT, **more):
        """Runs a ckpt command; does not raise for its exit code."""
        return subprocess.run(
            self.wrap([self.ckpt_program, *(str(word) for word in words)]),
            cwd=self.work,
            env=self.environment(**more),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def ckpt_in_background(self, *words):
        """Starts a ckpt command; returns the process, whose output can be read."""
        return subprocess.Popen(
            self.wrap([self.ckpt_program, *(str(word) for word in words)]),
            cwd=self.work,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ckpt_json(self, *words, **more):
        """Runs a ckpt command that must succeed; returns its parsed output."""
        done = self.ckpt(*words, "--json", **more)
        if done.returncode != 0:
            raise AssertionError(
                f"ckpt {' '.join(map(str, words))}: code {done.returncode}\n"
                f"{done.stdout}{done.stderr}"
            )
        return json.loads(done.stdout)

    def wait_for_agent(self, job, name=None):
        """Waits until all ranks have an agent, after the loss of one. name: the job's
        name, if the job does not belong to an mpirun here."""
        deadline = time.monotonic() + TIMEOUT
        phase = None
        while phase != "running":
            assert time.monotonic() < deadline, f"still {phase}"
            assert job.run_on(POLL), "it ended"
            found = self.ckpt("status", name or job.pid, "--json")
            if found.returncode == 0:
                phase = json.loads(found.stdout)[0]["phase"]

    def kill_and_wait_for_agent(self, job):
        """Kills a job; returns when the job's agent has finished, too."""
        (status,) = self.ckpt_json("status", job.pid)
        job.kill()
        assert processes.wait_until_gone([status["agent_pid"]], TIMEOUT)

    def checkpoint(self, job, **more):
        """Saves a job; returns what `ckpt checkpoint` prints about the checkpoint."""
        return self.ckpt_json("checkpoint", job.pid, **more)

    def checkpoints(self):
        """Returns the committed checkpoints of all jobs here, oldest first."""
        done = self.ckpt("list", "--json")
        assert done.returncode in (0, 3), done
        entries = json.loads(done.stdout)
        return [entry for entry in entries if entry["state"] == "committed"]

    def run_native(self, program):
        """Runs a program to its end without ckpt."""
        job = self.start_native(program)
        lines = job.succeed(5 * TIMEOUT)
        seconds = time.monotonic() - job.started
        return Outcome(program.answer(lines, self.work), lines, seconds)

    def answer(self, program, *jobs):
        """Returns the answer of a run in several parts; all but the last were killed."""
        lines = [line for job in jobs for line in job.lines]
        return program.answer(lines, self.work)
