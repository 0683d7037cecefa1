# SPDX-License-Identifier: BSD-3-Clause
"""A job that is saved from time to time loses the directory for that: it runs on unharmed, and
whoever looks sees since when it is unprotected."""

import re
import time

import pytest

from ckpttest import alone

INTERVAL = 0.5
TICKER = """
import time
n = 0
while True:
    print('tick', n, flush=True)
    n += 1
    time.sleep(0.02)
"""
RESUMABLE = 75


def start(lab, *options):
    """A job with periodic checkpoints that has one; where its metrics are."""
    metrics = lab.directory / "metrics"
    job = alone.start(
        lab,
        "python3",
        "-c",
        TICKER,
        options=("--interval", INTERVAL, "--metrics", metrics, *options),
    )
    alone.wait_until(job, lambda: (alone.status(lab) or {}).get("committed"))
    return job, metrics


def since(metrics):
    """When the metrics say that protection has ended."""
    text = metrics.read_text(encoding="utf-8")
    return float(re.search(r"ckpt_unprotected_since_seconds{.*} (\S+)", text)[1])


def ticks(job):
    return [int(line.split()[1]) for line in job.lines if line.startswith("tick")]


def vanish(lab):
    """Nobody can make it again, root neither; what undoes that."""
    directory = lab.store / alone.name(lab)
    aside = lab.directory / "aside"
    directory.rename(aside)
    directory.write_text("in the way", encoding="utf-8")

    def undo():
        directory.unlink()
        aside.rename(directory)

    return undo


def test_the_directory_vanishes_and_comes_back(lab):
    job, metrics = start(lab)
    assert since(metrics) == 0
    before = time.time()
    undo = vanish(lab)
    job.wait_for("^ckpt: the job is unprotected: ")
    alone.wait_until(job, lambda: since(metrics) > 0)
    assert before - 1 <= since(metrics) <= time.time()
    assert "UNPROTECTED since " in lab.ckpt("status", alone.name(lab)).stdout
    count = len(ticks(job))
    alone.wait_until(job, lambda: len(ticks(job)) > count + 50)
    undo()
    job.wait_for("^ckpt: the job is protected again")
    alone.wait_until(job, lambda: since(metrics) == 0)
    numbers = ticks(job)
    assert numbers == list(range(len(numbers)))  # it has not been restarted, either


@pytest.mark.parametrize("stops", [True, False])
def test_what_the_user_wants_then(lab, stops):
    job, _ = start(lab, "--unprotected", "stop" if stops else "go")
    undo = vanish(lab)
    job.wait_for("^ckpt: the job is unprotected: ")
    if stops:
        job.wait_for("^ckpt: the job is ended: it could not be saved for a whole interval")
        assert job.finish() in (RESUMABLE, 128 + 15)
        assert not [line for line in job.lines if "; restart " in line]
    else:
        count = len(ticks(job))
        alone.wait_until(job, lambda: len(ticks(job)) > count + 100)
        assert not [line for line in job.lines if "is ended" in line]
    undo()
