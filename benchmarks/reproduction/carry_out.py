# SPDX-License-Identifier: BSD-3-Clause
"""carry_out.py - one run: a job in its own directory, which is removed afterwards. A failure is
recorded as the run's result."""

import contextlib
import os
import shutil
import subprocess
import time

from ckpttest import non_mpi, processes
from ckpttest.lab import Lab
from ckpttest.programs import ok_line

from .interference import Meter, agents_seconds

TIMEOUT = 60  # seconds for steps that take almost no time
AT_ITS_END = 0.5  # seconds within which the end of a program is noticed
FIRST_AT, LAST_BEFORE = 0.15, 0.75  # fractions of a run between which checkpoints are requested
FAILURES = (AssertionError, OSError, subprocess.SubprocessError, LookupError, ValueError)
MOST_WORDS = 4000  # characters of a message
LINES = 10  # of an agent's log


class Running:
    """A job that runs a program; `ckpt` knows it by `name`."""

    def __init__(self, lab, subject, amount):
        self.lab = lab
        self.program = subject.make(amount)
        if subject.is_parallel:
            self.job = lab.start(self.program)
            self.name = self.job.pid
        else:
            self.program.prepare(lab.work)
            self.job = non_mpi.start(lab, *self.program.argv)
            self.name = non_mpi.name(lab)

    def begin(self):
        """Returns the time of its first line, in seconds."""
        self.job.wait_for(self.program.progress, timeout=TIMEOUT)
        return self.job.times[0]

    def checkpoint(self, limit):
        """Takes a checkpoint; returns the report of `ckpt checkpoint`."""
        saved = self.lab.ckpt_json("checkpoint", self.name, timeout=limit)
        saved.pop("path")
        return saved

    def agent(self):
        """Returns the agent's process id."""
        (status,) = self.lab.ckpt_json("status", self.name, timeout=TIMEOUT)
        return status["agent_pid"]

    def end(self, limit):
        """Returns (seconds of the job, seconds of the program from its first line). The program
        checks its own answer, which must be right."""
        lines = self.job.succeed(limit)
        ok_line(lines, None)
        times = self.job.times
        return times[-1] - self.job.started, times[-1] - times[0]


def _limit(scale):
    """Returns the seconds after which a run is given up."""
    return TIMEOUT + 20 * scale.seconds


def _checkpoint(running, limit):
    """Returns the report of `ckpt checkpoint`; None if the program has ended meanwhile."""
    try:
        return running.checkpoint(limit)
    except AssertionError:
        if running.job.run_on(AT_ITS_END):
            raise
        return None


def _save_as_it_runs(running, scale):
    """Takes checkpoints at their times: fewer if the program is faster than expected, but raises
    ValueError if there is none."""
    began, saved = running.begin(), []
    for number in range(scale.checkpoints):
        share = FIRST_AT + (LAST_BEFORE - FIRST_AT) * number / scale.checkpoints
        pause = began + share * scale.seconds - time.monotonic()
        taken = running.job.run_on(max(0, pause)) and _checkpoint(running, _limit(scale))
        if not taken:
            break
        saved.append(taken)
    if not saved:
        raise ValueError("it ended before its first checkpoint")
    return saved


def _restart(lab, running, scale):
    """Takes a checkpoint; returns its report, and the seconds from `ckpt restart` until all ranks
    run again."""
    running.begin()
    saved = running.checkpoint(_limit(scale))
    agent = running.agent()
    running.job.kill()
    processes.wait_until_gone([agent], TIMEOUT)
    began = time.monotonic()
    job = lab.restart()
    lab.wait_for_agent(job)
    seconds = time.monotonic() - began
    job.kill()
    return {"checkpoints": [saved], "restart": seconds}


def _measure(lab, run, subject, scale, amount):
    meter = Meter()
    running = Running(lab, subject, amount)
    if run.kind == "restart":
        return _restart(lab, running, scale)
    saved = []
    if run.kind == "saved":
        saved = _save_as_it_runs(running, scale)
        meter.agents = agents_seconds(lab.store)
    seconds, own = running.end(_limit(scale))
    return {
        "seconds": seconds,
        "own seconds": own,
        "others": meter.seconds(),
        "checkpoints": saved,
    }


def _agents_last_lines(lab):
    """Returns the last lines in the logs of a lab's agents."""
    return "\n".join(
        f"{path.name}: {line}"
        for path in sorted(lab.store.glob("*/ckptd-*.log"))
        for line in path.read_text("utf-8", "replace").splitlines()[-LINES:]
    )


@contextlib.contextmanager
def _lab_of(directory, run):
    """Yields a lab whose processes are all killed at the end. An exception gets the agents' last
    lines."""
    lab = Lab(directory, **run.way.settings(), CKPT_KEEP=1)
    try:
        yield lab
    except FAILURES as error:
        error.add_note(_agents_last_lines(lab))
        raise
    finally:
        try:
            lab.close()
        finally:
            shutil.rmtree(directory)


def carry_out(directory, run, subject, scale, amount):
    """Returns the results of a run, or its "error"; plain data."""
    result = {**run.as_data(), "amount": amount, "load": os.getloadavg()[0]}
    try:
        with _lab_of(directory, run) as lab:
            result.update(_measure(lab, run, subject, scale, amount))
    except FAILURES as error:
        notes = getattr(error, "__notes__", [])
        message = "\n".join([f"{type(error).__name__}: {error}", *notes])
        result["error"] = message[:MOST_WORDS]
    return result
