# SPDX-License-Identifier: BSD-3-Clause
"""window_programs.py - the overhead of independent checkpoints in the programs of Sultan 2004,
section 4.7, and the size of their logs."""

import time
from pathlib import Path

from ckpttest import non_mpi, processes, windows

LIMIT = 900  # seconds for a run
SAMPLE = 0.2  # seconds between two looks
RANKS = 2

# Program, steps, size: some ten seconds on two processors.
PROGRAMS = {
    "Barnes": ("barnes", 600, 2000),
    "Water-Nsquared": ("water_nsquared", 1500, 1000),
    "Water-Spatial": ("water_spatial", 1200, 3000),
}
LONG = {  # of 10,000 steps or more
    "Barnes": ("barnes", 10000, 300),
    "Water-Nsquared": ("water_nsquared", 10000, 300),
    "Water-Spatial": ("water_spatial", 10000, 300),
    "stencil": ("stencil", 40000, 256),
}
WAYS = ("plain", "ckpt", "independent")
OPTIONS = {  # of `ckpt run`
    "independent": ["--protocol", "independent"],
    "direct": ["--protocol", "independent", "--windows", "direct"],
}


def program_of(name, steps, size, scale=1):
    """Returns the program with `scale` times its steps."""
    return windows.program(name, max(1, int(steps * scale)), size, ranks=RANKS)


def start(lab, program, way, **settings):
    """Starts a job in one of the WAYS, or with direct puts; settings: of an independent one."""
    if way == "plain":
        return lab.start_native(program, **windows.NATIVE)
    if way == "ckpt":
        return lab.start(program)
    command = lab.mpirun_command(program)
    return non_mpi.start(lab, *command, options=OPTIONS[way], **settings)


def seconds_of(job):
    """Returns the seconds from a program's first step to its result, without the launch."""
    begin = next(i for i, line in enumerate(job.lines) if line.startswith("step "))
    end = next(i for i, line in enumerate(job.lines) if ": result " in line)
    return job.times[end] - job.times[begin]


def in_turn(ways, count):
    """Yields the ways of `count` rounds: each round has all of them, and begins with a different
    one."""
    for turn in range(count):
        for index in range(len(ways)):
            yield ways[(turn + index) % len(ways)]


def run_in_turn(lab, program, count, ways=WAYS):
    """Yields (way, ended job) of in_turn()."""
    for way in in_turn(ways, count):
        job = start(lab, program, way)
        job.succeed(LIMIT)
        yield way, job


def rounds(lab, program, count):
    """Returns {way: [seconds]}, of run_in_turn()."""
    results = {way: [] for way in WAYS}
    for way, job in run_in_turn(lab, program, count):
        results[way].append(seconds_of(job))
    return results


def look(lab, begin):
    """Returns the present state of the ranks: the numbers of each, the number of copies, and the
    time; None if the status is not available yet."""
    status = non_mpi.status(lab)
    if status is None or not status.get("independent"):
        return None
    copies = len(processes.frozen_copies(lab.work))
    return {
        "seconds": time.monotonic() - begin,
        "copies": copies,
        "ranks": status["independent"],
    }


def window_bytes(pid):
    """Returns the bytes of all windows. A rank has mapped each member's part; Open MPI's own data
    precede these."""
    total = 0
    for line in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines():
        area, _, offset, *_ = line.split()
        if "/dev/shm/osc_sm." in line and int(offset, 16) != 0:
            begin, end = (int(word, 16) for word in area.split("-"))
            total += end - begin
    return total


def counted(lab, program):
    """Returns {"window_bytes", "samples": [look(), ...] of one run, each SAMPLE seconds}"""
    job = start(lab, program, "independent")
    job.wait_for(program.progress, LIMIT)
    begin = job.times[next(i for i, line in enumerate(job.lines) if line.startswith("step "))]
    size = window_bytes(non_mpi.process_of(lab, job))
    samples = []
    while job.run_on(SAMPLE):
        samples.append(look(lab, begin))
    job.succeed(LIMIT)
    end = begin + seconds_of(job)
    found = [one for one in samples if one and begin + one["seconds"] <= end]
    assert found, "it has ended before it could be looked at"
    return {"window_bytes": size, "samples": found}
