# SPDX-License-Identifier: BSD-3-Clause
"""recoveries.py - jobs with kept copies, whose ranks are killed at random moments, and whose
answers are compared with those of an uninterrupted run."""

import collections
import contextlib
import os
import random
import re
import signal
import time
from pathlib import Path

from . import non_mpi, processes
from .lab import POLL, Lab
from .mpis import OPENMPI4, OPENMPI5
from .settings import TIMEOUT

OPTIONS = ["--max-restarts", "1000"]
WAYS = [  # a library, and how its jobs are started
    (mpi, launcher)
    for mpi in (OPENMPI4, OPENMPI5)
    if mpi.installed
    for launcher in ("alone", "mpirun")
]
RESTART = re.compile(r"ckpt: .*restart \d+ of")
RECOVERED = re.compile(
    r"ckpt: rank \d+ has died; all ranks have gone back to checkpoint (\d+) in place, in (\S+ \w+)"
)
AGAIN = "another world is tried"  # says the agent, after a second failure
NOT_RECOVERED = re.compile(
    r"the job does not recover in place: (.*?)(?:; (?:restart|the rest of the job) .*)?$"
)


def make_lab(directory, mpi, **settings):
    """A lab whose jobs run over this library, with its mpirun or without."""
    settings = {"CKPT_KEEP_COPIES": "auto", **settings, **mpi.settings()}
    if mpi.prefix:
        settings["CKPT_LIBMPI"] = f"{mpi.prefix}/lib/libmpi.so.40"
        settings["OPAL_PREFIX"] = mpi.prefix
    return Lab(directory, mpi.mpirun, **settings)


def name_of_way(way):
    """The name of one of WAYS, for a parameter of a test."""
    mpi, launcher = way
    return f"{mpi.name}-{launcher}"


def labs_in_way(directory, way):
    """Yields a lab whose jobs need no launcher, or have an mpirun; one of WAYS."""
    mpi, launcher = way
    lab = make_lab(directory, mpi)
    lab.has_mpirun = launcher == "mpirun"
    yield lab
    lab.close()


def start(lab, program, interval="0", options=(), mpirun=False, **settings):
    """Starts the program with kept copies, by `ckpt run --ranks` or by mpirun."""
    program.prepare(lab.work)
    options = [*OPTIONS, "--interval", interval, *options]
    if mpirun:
        return non_mpi.start(lab, *lab.mpirun_command(program), options=options, **settings)
    return non_mpi.start(lab, *program.argv, options=["-n", program.ranks, *options], **settings)


def ranks_of(lab):
    """Returns the process ids of the ranks, if all are there, else None."""
    found = non_mpi.status(lab)
    if not found or len(found["ranks"]) != found["rank_count"]:
        return None
    return [rank["pid"] for rank in found["ranks"]]


def decides_on_copies(lab):
    """Whether copies of some checkpoint are kept, or there is a reason to keep none."""
    found = non_mpi.status(lab)
    return bool(found) and bool(found["in_place"]["kept"] or found["in_place"]["why_none"])


def await_copies(lab, job, what="kept"):
    """Waits until copies of all ranks at the newest checkpoint are kept, or stand by."""

    def are_there():
        found = non_mpi.status(lab)
        newest = non_mpi.newest(lab.store)
        return found and newest and found["in_place"][what] == newest

    return non_mpi.wait_until(job, are_there)


def one_rank(lab, chance):
    """Returns the process id of a random rank; nothing if not all are there."""
    ranks = ranks_of(lab)
    return [chance.choice(ranks)] if ranks else []


def any_victims(lab, chance):
    """Returns process ids: most often of a rank; else of two, of the agent, of its ckpt-world, or
    of the launcher (0 if it has none)."""
    kind = chance.choice(["rank"] * 6 + ["two", "agent", "world", "launcher"])
    found = non_mpi.status(lab)
    if kind == "rank" or not found:
        return one_rank(lab, chance)
    if kind == "two":
        return one_rank(lab, chance) + one_rank(lab, chance)
    if kind == "world":
        started = processes.started_with("CKPT_DIR", lab.environment()["CKPT_DIR"])
        return [pid for pid in started if processes.name_of(pid) == "ckpt-world"]
    return [found["agent_pid" if kind == "agent" else "launcher_pid"]]


# pylint: disable-next=too-many-arguments,too-many-positional-arguments
def kill_some(lab, job, seed, longest, most, victims=one_rank):
    """Kills some of the job's processes after random times of up to `longest` seconds, `most` times
    at most, as long as the job runs. Returns how often. A job is killed twice at most without a new
    checkpoint: `ckpt run` gives up a job that fails again and again, as at its end."""
    chance = random.Random(seed)
    kills = 0
    turns = collections.Counter()  # by the newest checkpoint
    while kills < most and job.run_on(chance.uniform(0, longest)):
        newest = non_mpi.newest(lab.store)
        turns[newest] += 1
        found = victims(lab, chance) if turns[newest] <= 2 else []
        for pid in (pid for pid in found if pid > 0):  # other numbers name process groups
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                kills += 1
    return kills


def counts(job):
    """Returns how often the job recovered in place, and why it did not."""
    in_place = [match for line in job.lines if (match := RECOVERED.search(line))]
    others = [match[1] for line in job.lines if (match := NOT_RECOVERED.search(line))]
    return len(in_place), others


def is_right(lab, job):
    """Lets the program end, which must have its right answer, without a restart."""
    (lab.work / "stop").touch()
    assert any(line.startswith("OK ") for line in job.succeed())
    assert not [line for line in job.lines if RESTART.search(line)], job.lines
    assert not (left := who_is_left(lab, job)), "\n".join(left)


def describe(pid):
    """Returns what one needs to know of a process that should have ended."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return f"{pid}: ended meanwhile"
    fields = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
    parent = fields["PPid"]
    return (
        f"{pid}: {fields['Name']}, state {fields['State']}, child of {parent}"
        f" ({processes.name_of(parent)}): {os.fsdecode(words)}"
    )


def who_is_left(lab, job):
    """Returns descriptions of the processes of the job that have not ended, and do not end in a
    moment."""
    started = processes.started_with("CKPT_DIR", lab.environment()["CKPT_DIR"])
    others = [pid for pid in started if pid != job.pid]
    if processes.wait_until_gone(others, TIMEOUT):
        return []
    return [describe(pid) for pid in others if processes.is_alive(pid)]


def kill_a_copy(lab):
    """Kills a copy as soon as one comes to life."""
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        for pid in processes.started_with("CKPT_DIR", lab.environment()["CKPT_DIR"]):
            with contextlib.suppress(OSError, ValueError):  # it is not ckpt-restart
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                os.kill(int(words[words.index(b"--thaw") + 1]), signal.SIGKILL)
                return
    raise AssertionError("no copy comes to life")


def nobody_is_left(lab, job):
    """Whether all processes of the job have ended, or end in a moment."""
    return not who_is_left(lab, job)


def can_be_killed(lab, job):
    """Waits until copies of the job are kept, or cannot be kept. Returns False if the job ended
    before."""
    deadline = time.monotonic() + TIMEOUT
    while job.run_on(POLL):
        if decides_on_copies(lab):
            return True
        assert time.monotonic() < deadline, "no copies are kept"
    return False


def difference(answer, native):
    """Returns how an answer differs from that of an uninterrupted run, "" if it does not."""
    if isinstance(native, dict):
        keys = sorted(answer.keys() | native.keys(), key=str)
        parts = ((f"{key}: ", answer.get(key), native.get(key)) for key in keys)
    else:
        parts = [("", answer, native)]
    return "\n".join(f"{key}{own} instead of {other}" for key, own, other in parts if own != other)


# pylint: disable-next=too-many-arguments,too-many-positional-arguments
def run(lab, program, native, seed, longest=2.0, most=1000, mpirun=False, victims=one_rank):
    """Runs a program to its end under kills; its answer must be the native one. Returns the number
    of kills, of recoveries in place, and the reasons for restarts. Kills begin when copies are
    kept."""
    job = start(lab, program, "0.5s", mpirun=mpirun)
    began = time.monotonic()
    kills = 0
    if can_be_killed(lab, job):
        kills = kill_some(lab, job, seed, longest, most, victims)
    job.succeed(10 * native.seconds + TIMEOUT)
    assert not (wrong := difference(lab.answer(program, job), native.answer)), wrong
    assert not (left := who_is_left(lab, job)), "\n".join(left)
    in_place, others = counts(job)
    return {
        "program": program.name,
        "kills": kills,
        "in place": in_place,
        "restarts": others,
        "seconds": time.monotonic() - began,
    }
