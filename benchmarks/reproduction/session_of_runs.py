# SPDX-License-Identifier: BSD-3-Clause
"""session_of_runs.py - all runs of a plan, one after the other, with their progress."""

import time

from . import plan
from .carry_out import carry_out


def _amount(record, subject, scale):
    """Returns the amount of work for a run of the planned time; the calibration's amount if the
    calibration failed."""
    found = record.find(plan.Run("calibration", subject.name, plan.Way()).key())
    seconds = found.get("own seconds", 0) if found else 0
    return subject.amount(seconds, scale.seconds) if seconds > 0 else subject.first


def _in_words(run, result):
    """Returns a line of progress."""
    text = f"{run.kind} {run.workload}"
    text += f", {run.way.name()}" if run.kind != "calibration" else ""
    if "error" in result:
        return f"{text}: FAILED: {result['error'].splitlines()[0]}"
    times = [one["timings"]["total"] for one in result["checkpoints"]]
    saved = f", checkpoints of {', '.join(f'{one:.3f}' for one in times)} s" if times else ""
    took = result.get("seconds", result.get("restart"))
    return f"{text}: {took:.2f} s{saved}"


def measure(directory, record, scale, runs, subjects, say):
    """Measures the runs that are not yet in the record. A failing run is recorded with its message,
    and does not affect the others."""
    todo = [run for run in runs if not record.is_done(run)]
    say(f"{len(todo)} runs, some {plan.in_words(plan.estimate(scale, todo))}")
    began = time.monotonic()
    for number, run in enumerate(todo):
        subject = subjects[run.workload]
        is_first = run.kind == "calibration"
        amount = subject.first if is_first else _amount(record, subject, scale)
        result = carry_out(directory / "run", run, subject, scale, amount)
        record.add(result)
        passed = time.monotonic() - began
        share = plan.estimate(scale, todo[: number + 1]) / plan.estimate(scale, todo)
        left = plan.in_words(passed / share - passed)
        say(f"{number + 1}/{len(todo)}, {left} left: {_in_words(run, result)}")
