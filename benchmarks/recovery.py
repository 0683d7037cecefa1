# SPDX-License-Identifier: BSD-3-Clause
"""recovery.py - from the death of a rank until the program makes progress again: in place, and by
restarts, under ckpt-launch and under mpirun, in turns."""

import contextlib
import os
import signal
import time

import report
from ckpttest import non_mpi, recoveries, table
from ckpttest.mpis import OPENMPI4, OPENMPI5
from ckpttest.programs import Program
from ckpttest.settings import BUILD

LIMIT = 60  # seconds
RESTARTED = r"restart \d+ of"
COPIES = ["--keep-copies", "yes"]
HOT = [*COPIES, "--standby", "yes"]
NONE = ["--keep-copies", "no"]
# What the table compares: the launcher, and the options for recovery in place.
KINDS = {
    "hot, ckpt-launch": ("ckpt-launch", HOT),
    "hot, mpirun": ("mpirun", HOT),
    "in place, ckpt-launch": ("ckpt-launch", COPIES),
    "in place, mpirun": ("mpirun", COPIES),
    "restart, ckpt-launch": ("ckpt-launch", NONE),
    "restart, mpirun": ("mpirun", NONE),
}


def is_in_place(kind):
    """Whether the ranks come back without a new launch."""
    return KINDS[kind][1] != NONE


def page_walk(mebibytes, ranks):
    """A program that needs one page in each step."""
    return Program("page_walk", [BUILD / "benchmarks/page_walk", mebibytes], ranks)


def command(lab, program, kind):
    """Returns the options and the command line of a job of this kind."""
    launcher, recovery = KINDS[kind]
    options = ["--interval", "0", "--max-restarts", "1000", *recovery]
    if launcher == "mpirun":
        launch = [lab.mpirun, "--oversubscribe", "-np", program.ranks]
        return options, [*launch, *program.argv]
    return ["-n", program.ranks, *options], program.argv


@contextlib.contextmanager
def saved_job(lab, program, kind):
    """Starts a job and takes a checkpoint; yields the job."""
    options, words = command(lab, program, kind)
    job = non_mpi.start(lab, *words, options=options)
    try:
        job.wait_for(program.progress, timeout=LIMIT)
        non_mpi.save(lab)
        if is_in_place(kind):
            what = "standby" if KINDS[kind][1] == HOT else "kept"
            recoveries.await_copies(lab, job, what)
        yield job
    finally:
        job.process.terminate()
        job.finish()
        assert recoveries.nobody_is_left(lab, job)  # the next job has the same name


def seconds_to_progress(lab, job, program, kind, victim):
    """Kills a rank; returns the seconds until there is progress after the recovery."""
    ranks = non_mpi.wait_until(job, lambda: recoveries.ranks_of(lab))
    begin = time.monotonic()
    os.kill(ranks[victim], signal.SIGKILL)
    job.wait_for(recoveries.RECOVERED if is_in_place(kind) else RESTARTED, timeout=LIMIT)
    job.wait_for(program.progress, timeout=LIMIT)
    return time.monotonic() - begin


def measure(directory, mpi, ranks, mebibytes, options):
    """Returns seconds by kind. Each job has one failure, so that all are alike."""
    lab = recoveries.make_lab(directory, mpi, CKPT_CODEC="none")
    program = page_walk(mebibytes, ranks)
    found = {kind: [] for kind in options.kinds}
    try:
        for turn in range(options.count):
            for kind, seconds in found.items():
                with saved_job(lab, program, kind) as job:
                    victim = turn % ranks
                    seconds.append(seconds_to_progress(lab, job, program, kind, victim))
        return found
    finally:
        lab.close()


def everything(directory, options, say):
    """Returns [{"mpi", "ranks", "mebibytes", ...measure()}]"""
    results = []
    for mpi in (OPENMPI4, OPENMPI5):
        for ranks in options.ranks:
            for mebibytes in options.mebibytes if mpi.installed else []:
                say(f"{mpi.name}, {ranks} ranks, {mebibytes} MiB")
                place = directory / f"{mpi.name}-{ranks}-{mebibytes}"
                place.mkdir()
                found = measure(place, mpi, ranks, mebibytes, options)
                results.append(
                    {"mpi": mpi.name, "ranks": ranks, "mebibytes": mebibytes, **found}
                )
    return results


HEADER = ["library", "ranks", "MiB a rank"]


def text(data):
    """Returns the report, Markdown."""
    rows = [
        [*list(one.values())[:3], *(table.spread(seconds) for seconds in list(one.values())[3:])]
        for one in data["results"]
    ]
    parts = [
        "# Recoveries",
        "Seconds from SIGKILL to a rank until the program makes progress again; median"
        " (least .. most).",
        report.markdown(["machine", ""], list(data["machine"].items())),
        report.markdown([*HEADER, *list(data["results"][0])[len(HEADER) :]], rows),
    ]
    return "\n\n".join(parts) + "\n"
