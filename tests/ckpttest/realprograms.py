# SPDX-License-Identifier: BSD-3-Clause
"""realprograms.py - real programs, saved at random times, killed, restarted,
and compared with an uninterrupted run."""

import random
import re
import subprocess
import time

from . import programs
from .lab import Lab
from .settings import APPS

KINDS = {
    "lammps2": lambda: programs.lammps(600, 2),
    "lammps4": lambda: programs.lammps(400, 4),
    "crack": lambda: programs.lammps_crack(1000),
    "peptide": lambda: programs.lammps_peptide(120),
    "hdf5": lambda: programs.datasets(200),
    "hpcc": lambda: programs.hpcc(2),
    "mpi4py": lambda: programs.objects(1500, 3),
    "files": lambda: programs.files(8000, 3),
    "threads": lambda: programs.threads(600, 2),
}
if (APPS / "fortran/heat").exists():
    KINDS["fortran"] = lambda: programs.heat(20000, 2)


def wait_for_moment(job, program, fraction, native):
    """Lets a job run to about this fraction of its run."""
    if program.progress:
        regex = re.compile(program.progress)
        reports = sum(bool(regex.search(line)) for line in native.lines)
        job.wait_for(program.progress, count=max(1, int(fraction * reports)))
    elif not job.run_on(fraction * native.seconds):
        raise AssertionError("the job ended before its random moment")


def run_once(directory, program, fraction, native):
    """Runs a program that is saved, killed and restarted; returns a row of the
    table."""
    lab = Lab(directory)
    try:
        first = lab.start(program)
        wait_for_moment(first, program, fraction, native)
        saved = lab.checkpoint(first)
        first.kill()
        began = time.monotonic()
        second = lab.restart()
        second.succeed(5 * native.seconds + 60)
        seconds = time.monotonic() - began
        answer = lab.answer(program, first, second)
        assert answer == native.answer, f"{answer} instead of {native.answer}"
    finally:
        lab.close()
    subprocess.run(["rm", "-rf", directory], check=True)
    return {
        "program": program.name,
        "ranks": program.ranks,
        "saved at": f"{fraction:.0%}",
        "checkpoint": saved["timings"]["total"],
        "stop": saved["timings"]["stop"],
        "bytes": saved["bytes"],
        "restart to end": seconds,
    }


def run_kind(directory, kind, times, seed):
    """Runs a program natively and then `times` times with a restart; yields
    rows."""
    chance = random.Random(f"{seed} {kind}")
    program = KINDS[kind]()
    native = Lab(directory / f"{kind}-native").run_native(program)
    last = 0.7 if program.progress else 0.6  # native times vary
    return [
        run_once(
            directory / f"{kind}-{turn}",
            program,
            chance.uniform(0.1, last),
            native,
        )
        for turn in range(times)
    ]
