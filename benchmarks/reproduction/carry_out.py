# SPDX-License-Identifier: BSD-3-Clause
"""carry_out.py - one run: a job of its own in a directory of its own, which is gone
afterwards. Whatever fails in it is its result."""

import contextlib
import os
import shutil
import subprocess
import time

from ckpttest import alone, processes
from ckpttest.lab import Lab
from ckpttest.programs import ok_line

from .interference import Meter, agents_seconds

PATIENCE = 60  # seconds for what should take none
AT_ITS_END = 0.5  # seconds, in which a program that has ended is seen to have
FIRST_AT, LAST_BEFORE = 0.15, 0.75  # of a run, in which checkpoints are asked for
FAILURES = (AssertionError, OSError, subprocess.SubprocessError, LookupError, ValueError)
MOST_WORDS = 4000  # characters of a message
LINES = 10  # of an agent's log


class Running:
    """A job that a program runs in; `ckpt` knows it by `name`."""

    def __init__(self, lab, subject, amount):
        self.lab = lab
        self.program = subject.make(amount)
        if subject.is_parallel:
            self.job = lab.start(self.program)
            self.name = self.job.pid
        else:
            self.program.prepare(lab.work)
            self.job = alone.start(lab, *self.program.argv)
            self.name = alone.name(lab)

    def begin(self):
        """When its first line came, in seconds."""
        self.job.wait_for(self.program.progress, timeout=PATIENCE)
        return self.job.times[0]

    def checkpoint(self, limit):
        """What `ckpt checkpoint` says of one."""
        saved = self.lab.ckpt_json("checkpoint", self.name, timeout=limit)
        saved.pop("path")
        return saved

    def agent(self):
        """Its process id."""
        (status,) = self.lab.ckpt_json("status", self.name, timeout=PATIENCE)
        return status["agent_pid"]

    def end(self, limit):
        """(seconds of the job, of the program from its first line); its answer, which
        it checks itself, must be good."""
        lines = self.job.succeed(limit)
        ok_line(lines, None)
        times = self.job.times
        return times[-1] - self.job.started, times[-1] - times[0]


def _limit(scale):
    """Seconds after which a run is given up."""
    return PATIENCE + 20 * scale.seconds


def _checkpoint(running, limit):
    """What `ckpt checkpoint` says; None if the program has come to its end meanwhile."""
    try:
        return running.checkpoint(limit)
    except AssertionError:
        if running.job.run_on(AT_ITS_END):
            raise
        return None


def _save_as_it_runs(running, scale):
    """Checkpoints at their times: fewer if the program is faster than expected, but
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
    """A checkpoint, and seconds from `ckpt restart` until all ranks run again."""
    running.begin()
    saved = running.checkpoint(_limit(scale))
    agent = running.agent()
    running.job.kill()
    processes.wait_until_gone([agent], PATIENCE)
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
    """What the agents of a lab have logged last."""
    return "\n".join(
        f"{path.name}: {line}"
        for path in sorted(lab.store.glob("*/ckptd-*.log"))
        for line in path.read_text("utf-8", "replace").splitlines()[-LINES:]
    )


@contextlib.contextmanager
def _lab_of(directory, run):
    """Everything that it has started is killed in the end. What fails takes the agents'
    last lines with it."""
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
    """What a run has measured, or its "error"; plain data."""
    result = {**run.as_data(), "amount": amount, "load": os.getloadavg()[0]}
    try:
        with _lab_of(directory, run) as lab:
            result.update(_measure(lab, run, subject, scale, amount))
    except FAILURES as error:
        notes = getattr(error, "__notes__", [])
        message = "\n".join([f"{type(error).__name__}: {error}", *notes])
        result["error"] = message[:MOST_WORDS]
    return result
