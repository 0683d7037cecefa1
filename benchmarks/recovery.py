# SPDX-License-Identifier: BSD-3-Clause
"""recovery.py - from the death of a rank until the program makes progress again: in place, and by
restarts, under ckpt-launch and under mpirun, in turns."""

import contextlib
import os
import shutil
import signal
import time
from dataclasses import dataclass
from typing import Callable

import report
from ckpttest import non_mpi, recoveries, replays, table, windows
from ckpttest.mpis import OPENMPI4, OPENMPI5
from ckpttest.programs import Program
from ckpttest.settings import BUILD

LIMIT = 60  # seconds
RESTARTED = r"restart \d+ of"
ADOPTED = "has ended; (all ranks have|the ranks go on)"
COPIES = ["--keep-copies", "yes"]
HOT = [*COPIES, "--standby", "yes"]
NONE = ["--keep-copies", "no"]
ALONE = ["--protocol", "independent", *COPIES]


def page_walk(mebibytes, ranks):
    """A program that needs one page in each step."""
    return Program("page_walk", [BUILD / "benchmarks/page_walk", mebibytes], ranks)


def stencil(_, ranks):
    """A program on windows; it has a few MiB."""
    return windows.program("stencil", 10**8, 256, ranks=ranks, way=["--mode=lock"])


@dataclass(frozen=True)
class Kind:
    """What happens, and how it is answered."""

    launcher: str
    options: list  # of ckpt run; none: without ckpt
    awaits: str = ""  # the copies: "kept", "standby"
    back: str = recoveries.RECOVERED.pattern  # what ckpt run says when all go on
    has_second: bool = False  # another rank dies while the copies come to life
    has_launcher_end: bool = False  # not a rank is killed, but the launcher
    program: Callable = page_walk


def kinds_of(launcher):
    """Returns what is compared with one launcher."""
    return {
        "start": Kind(launcher, []),
        "hot": Kind(launcher, HOT, "standby"),
        "in place": Kind(launcher, COPIES, "kept"),
        "second failure": Kind(launcher, COPIES, "kept", has_second=True),
        "one alone": Kind(launcher, ALONE, back=replays.IN_PLACE.pattern, program=stencil),
        "launcher killed": Kind(
            launcher, COPIES, "kept", back=ADOPTED, has_launcher_end=True
        ),
        "restart": Kind(launcher, NONE, back=RESTARTED),
    }


KINDS = {
    f"{name}, {launcher}": kind
    for launcher in ("ckpt-launch", "mpirun")
    for name, kind in kinds_of(launcher).items()
    if (name, launcher) != ("start", "ckpt-launch")  # a start without ckpt needs mpirun
}


def command(lab, program, kind):
    """Returns the options of ckpt run, and the command line, of a job of this kind."""
    options = ["--interval", "0", "--max-restarts", "1000", *kind.options]
    if kind.launcher == "mpirun":
        launch = [lab.mpirun, "--oversubscribe", "-np", program.ranks]
        return options, [*launch, *program.argv]
    return ["-n", program.ranks, *options], program.argv


def await_checkpoint(lab, job, kind, ranks):
    """Waits until a rank may die."""
    if kind.program is stencil:
        non_mpi.wait_until(
            job, lambda: replays.is_replayable(non_mpi.status(lab) or {}, ranks)
        )
        return
    non_mpi.save(lab)
    if kind.awaits:
        recoveries.await_copies(lab, job, kind.awaits)


@contextlib.contextmanager
def saved_job(lab, program, kind):
    """Starts a job and has it saved; yields the job."""
    options, words = command(lab, program, kind)
    job = non_mpi.start(lab, *words, options=options)
    try:
        job.wait_for(program.progress, timeout=LIMIT)
        await_checkpoint(lab, job, kind, program.ranks)
        yield job
    finally:
        job.process.terminate()
        job.finish()
        assert recoveries.nobody_is_left(lab, job)  # the next job has the same name


def seconds_to_progress(lab, job, program, kind, victim):
    """Kills a rank; returns the seconds until there is progress after the recovery. Returns nothing
    if the second failure came too late."""
    pids = non_mpi.wait_until(job, lambda: recoveries.ranks_of(lab))
    if kind.has_launcher_end:
        pids = [non_mpi.status(lab)["launcher_pid"]] * program.ranks
    begin = time.monotonic()
    os.kill(pids[victim], signal.SIGKILL)
    if kind.has_second:
        recoveries.kill_a_copy(lab)
    job.wait_for(kind.back, timeout=LIMIT)
    job.wait_for(program.progress, timeout=LIMIT)
    seconds = time.monotonic() - begin
    log = "".join(path.read_text("utf-8") for path in lab.store.glob("*/ckptd-*.log"))
    return None if kind.has_second and log.count(recoveries.AGAIN) != 1 else seconds


def seconds_of_start(lab, program):
    """Returns the seconds from the start of plain mpirun to progress."""
    job = lab.start_native(program)
    try:
        job.wait_for(program.progress, timeout=LIMIT)
        return time.monotonic() - job.started
    finally:
        job.process.terminate()
        job.finish()


def measure_one(lab, kind, mebibytes, ranks, turn):
    """Returns the seconds of one job, or nothing."""
    program = kind.program(mebibytes, ranks)
    if not kind.options:
        return seconds_of_start(lab, program)
    with saved_job(lab, program, kind) as job:
        found = seconds_to_progress(lab, job, program, kind, turn % ranks)
    shutil.rmtree(lab.store)
    return found


def measure(directory, mpi, ranks, mebibytes, options):
    """Returns seconds by kind. Each job has one failure or two, so that all are alike."""
    lab = recoveries.make_lab(directory, mpi, CKPT_CODEC="none")
    found = {kind: [] for kind in options.kinds}
    try:
        for turn in range(options.count):
            for kind, seconds in found.items():
                seconds.append(measure_one(lab, KINDS[kind], mebibytes, ranks, turn))
    finally:
        lab.close()
    return {kind: [one for one in seconds if one] for kind, seconds in found.items()}


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
        [
            *list(one.values())[:3],
            *(table.spread(found) if found else "-" for found in list(one.values())[3:]),
        ]
        for one in data["results"]
    ]
    parts = [
        "# Recoveries",
        "Seconds from SIGKILL to a rank until the program makes progress again; median"
        " (least .. most). Start: from the start of mpirun, without ckpt, until the program makes"
        " progress. Second failure: a copy is killed while it comes to life. One alone: a rank of a"
        " program on windows, with a few MiB, is replayed.",
        report.markdown(["machine", ""], list(data["machine"].items())),
        report.markdown([*HEADER, *list(data["results"][0])[len(HEADER) :]], rows),
    ]
    return "\n\n".join(parts) + "\n"
