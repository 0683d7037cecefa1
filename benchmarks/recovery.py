# SPDX-License-Identifier: BSD-3-Clause
"""recovery.py - from the death of a rank until the program makes progress again: in place, and by
restarts under ckpt-launch and under mpirun, in turns."""

import contextlib
import os
import signal
import time

import report
from ckpttest import non_mpi, recoveries, table
from ckpttest.lab import Lab
from ckpttest.mpis import OPENMPI4, OPENMPI5
from ckpttest.programs import Program
from ckpttest.settings import BUILD

LIMIT = 60  # seconds
RESTARTED = r"restart \d+ of"


def page_walk(mebibytes, ranks):
    """A program that needs one page in each step."""
    return Program("page_walk", [BUILD / "benchmarks/page_walk", mebibytes], ranks)


def command(lab, program, kind):
    """Returns the options and the command line of a job of this kind."""
    limits = ["--interval", "0", "--max-restarts", "1000"]
    if kind == "mpirun":
        launch = [lab.mpirun, "--oversubscribe", "-np", program.ranks]
        return limits, [*launch, *program.argv]
    copies = ["--keep-copies", "yes" if kind == "in place" else "no"]
    return ["-n", program.ranks, *copies, *limits], program.argv


@contextlib.contextmanager
def saved_job(lab, program, kind):
    """Starts a job and takes a checkpoint; yields the job."""
    options, words = command(lab, program, kind)
    job = non_mpi.start(lab, *words, options=options)
    try:
        job.wait_for(program.progress, timeout=LIMIT)
        non_mpi.save(lab)
        if kind == "in place":
            recoveries.await_copies(lab, job)
        yield job
    finally:
        job.kill()


def seconds_to_progress(lab, job, program, kind, victim):
    """Kills a rank; returns the seconds until there is progress after the recovery."""
    ranks = non_mpi.wait_until(job, lambda: recoveries.ranks_of(lab))
    begin = time.monotonic()
    os.kill(ranks[victim], signal.SIGKILL)
    job.wait_for(recoveries.RECOVERED if kind == "in place" else RESTARTED, timeout=LIMIT)
    job.wait_for(program.progress, timeout=LIMIT)
    return time.monotonic() - begin


def measure(directory, mpi, ranks, mebibytes, count):
    """Returns seconds by kind. Each job has one failure, so that all are alike."""
    settings = mpi.settings()
    if mpi.prefix:
        settings["CKPT_LIBMPI"] = f"{mpi.prefix}/lib/libmpi.so.40"
        settings["OPAL_PREFIX"] = mpi.prefix
    lab = Lab(directory, mpi.mpirun, CKPT_CODEC="none", **settings)
    program = page_walk(mebibytes, ranks)
    found = {"in place": [], "ckpt-launch": [], "mpirun": []}
    try:
        for turn in range(count):
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
                found = measure(place, mpi, ranks, mebibytes, options.count)
                results.append(
                    {"mpi": mpi.name, "ranks": ranks, "mebibytes": mebibytes, **found}
                )
    return results


HEADER = ["library", "ranks", "MiB a rank", "in place", "restart, ckpt-launch", "restart, mpirun"]


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
        report.markdown(HEADER, rows),
    ]
    return "\n\n".join(parts) + "\n"
