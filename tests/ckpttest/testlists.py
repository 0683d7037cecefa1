# SPDX-License-Identifier: BSD-3-Clause
"""testlists.py - the lines of the testlists of MPICH's test suite, each run plainly,
under ckpt, saved again and again, and killed and restarted."""

import re
import subprocess
from dataclasses import dataclass

from . import refusals
from .job import JobError
from .lab import Lab
from .programs import Program

FOLDERS = "attr coll comm datatype errhan group info init pt2pt rma topo".split()
SHORTEST = 0.6  # seconds of a run that can be killed in the middle
INTERVAL = 0.2  # seconds between two checkpoints of a test that is saved
FAILING = ("TestStatus", "TestStatusNoErrors", "TestErrFatal")  # they fail on purpose


@dataclass(frozen=True)
class Test:
    """A line of a testlist."""

    name: str
    program: Program
    environment: dict
    fails: bool  # a correct run ends with a code other than 0


def _test(folder, most_ranks, words):
    options = [word.partition("=")[::2] for word in words[2:]]
    arguments = [value for key, value in options if key == "arg"]
    settings = dict(
        value.partition("=")[::2]
        for key, value in options
        if key == "env" and not value.startswith("MPIR_CVAR")
    )
    ranks = min(int(words[1]), most_ranks)
    named = [f"{folder.name}/{words[0]}", str(ranks), *arguments]
    named += [f"{name}={value}" for name, value in settings.items()]
    fails = any(key == "resultTest" and value in FAILING for key, value in options)
    program = Program(words[0], [folder / words[0], *arguments], ranks, progress="")
    return Test(" ".join(named), program, settings, fails)


def tests(suite, most_ranks):
    """Returns the tests that have been built. Lines that differ only in settings of
    MPICH count once."""
    found = {}
    for folder in (suite / name for name in FOLDERS):
        text = (folder / "testlist").read_text(encoding="utf-8")
        for line in text.splitlines():
            words = line.partition("#")[0].split()
            if len(words) > 1 and (folder / words[0]).is_file():
                test = _test(folder, most_ranks, words)
                found.setdefault(test.name, test)
    return list(found.values())


def _verdict(test, job, limit):
    """Returns how a run ended: passed, failed or time-out."""
    try:
        code = job.finish(limit)
    except JobError:
        return "time-out"
    if test.fails:
        return "passed" if code != 0 else "failed"
    right = any(re.fullmatch(r"\s*No [Ee]rrors\s*", line) for line in job.lines)
    return "passed" if code == 0 and right else "failed"


def plain(lab, test, limit):
    """Runs a test without ckpt; returns the verdict and the seconds."""
    job = lab.start_native(test.program, **test.environment)
    verdict = _verdict(test, job, limit)
    return verdict, job.times[-1] - job.started if job.times else 0.0


def under_ckpt(lab, test, limit):
    """Runs a test under ckpt without a checkpoint; returns the verdict."""
    return _verdict(test, lab.start(test.program, **test.environment), limit)


def saved(lab, test, limit):
    """Runs a test with as many checkpoints as possible; returns the verdict."""
    job = lab.start(test.program, CKPT_INTERVAL=INTERVAL, **test.environment)
    return _verdict(test, job, limit)


def _is_at_its_end(refusal, job):
    """Whether a checkpoint was refused because the test was about to end."""
    is_end = refusals.identity(refusal) in refusals.OF_ENDS or "has just ended" in refusal
    return is_end or not job.run_on(0)


def restarted(lab, test, limit, seconds):
    """Saves a test after `seconds`, kills it and restarts it. Returns the verdict, the
    refusal if the checkpoint was refused, or None if the test had ended."""
    job = lab.start(test.program, **test.environment)
    if not job.run_on(seconds):
        return None
    try:
        done = lab.ckpt("checkpoint", job.pid, timeout=limit)
    except subprocess.TimeoutExpired:
        return "no checkpoint"
    if done.returncode != 0 and not _is_at_its_end(done.stderr, job):
        return f"refused: {done.stderr.strip()}"
    if done.returncode != 0 or not job.run_on(0):
        return None
    job.kill()
    return _verdict(test, lab.restart(**test.environment), limit)


def four_ways(directory, test, limit, fraction):
    """Returns the verdict of each way. A test that does not pass plainly only runs
    under ckpt. The kill comes after this fraction of the run."""
    places = [Lab(directory / way) for way in ("plain", "ckpt", "saved", "killed")]
    try:
        native, seconds = plain(places[0], test, limit)
        verdicts = {"plain": native, "under ckpt": under_ckpt(places[1], test, limit)}
        if native == "passed":
            verdicts["saved"] = saved(places[2], test, 3 * limit)
        if native == "passed" and seconds > SHORTEST:
            last = restarted(places[3], test, 3 * limit, fraction * seconds)
            verdicts |= {} if last is None else {"restarted": last}
    finally:
        for place in places:
            place.close()
    subprocess.run(["rm", "-rf", directory], check=True)
    return verdicts
