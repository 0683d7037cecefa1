# SPDX-License-Identifier: BSD-3-Clause
"""testlists.py - the lines of the testlists of MPICH's test suite, each run plainly,
under ckpt, saved again and again, and killed and restarted."""

import re
import subprocess
from dataclasses import dataclass

from .job import JobError
from .lab import Lab
from .programs import Program

FOLDERS = "attr coll comm datatype errhan group info init pt2pt rma topo".split()
SHORTEST = 0.6  # seconds of a run that can be killed in the middle
INTERVAL = 0.2  # seconds between two checkpoints of a test that is saved
FAILING = ("TestStatus", "TestStatusNoErrors", "TestErrFatal")  # are meant to


@dataclass(frozen=True)
class Test:
    """A line of a testlist."""

    name: str
    program: Program
    environment: dict
    fails: bool  # a right run ends with a code other than 0


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
    """The tests that have been built, each once: lines that differ in settings of MPICH
    alone are one."""
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
    """How a run ended: passed, failed or time-out."""
    try:
        code = job.finish(limit)
    except JobError:
        return "time-out"
    if test.fails:
        return "passed" if code != 0 else "failed"
    right = any(re.fullmatch(r"\s*No [Ee]rrors\s*", line) for line in job.lines)
    return "passed" if code == 0 and right else "failed"


def plain(lab, test, limit):
    """Without ckpt; the verdict and the seconds."""
    job = lab.start_native(test.program, **test.environment)
    verdict = _verdict(test, job, limit)
    return verdict, job.times[-1] - job.started if job.times else 0.0


def under_ckpt(lab, test, limit):
    """Without a checkpoint."""
    return _verdict(test, lab.start(test.program, **test.environment), limit)


def saved(lab, test, limit):
    """With a checkpoint as often as possible."""
    job = lab.start(test.program, CKPT_INTERVAL=INTERVAL, **test.environment)
    return _verdict(test, job, limit)


def _is_at_its_end(refusal, job):
    """Whether a checkpoint was refused as the test was as good as over."""
    ends = ("MPI_Finalize", "has just ended", "has died")
    return any(text in refusal for text in ends) or not job.run_on(0)


def restarted(lab, test, limit, seconds):
    """Saved after `seconds`, killed and restarted; a refusal instead of a verdict if
    the checkpoint was refused, None if the test had ended."""
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
    """The verdict of each way; a test that does not pass plainly is only run under
    ckpt. It is killed after this fraction of its run."""
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
