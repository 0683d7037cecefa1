# SPDX-License-Identifier: BSD-3-Clause
"""endurance.py - many checkpoints in a row of ranks that never pause.

The programs check themselves: traffic detects a message that is lost, duplicated, out of order or
damaged; churn detects a damaged MPI object. Now and then the job is killed and goes on from the
newest checkpoint, which shows that the checkpoint is whole.
"""

from collections import Counter

from . import programs
from .lab import Lab

RESTART_EVERY = 50  # checkpoints
VERIFY_EVERY = 25
KEEP = "2"


def run_endurance(directory, make, checkpoints, ranks=2, show=print):
    """Takes checkpoints in a row; returns (their durations in seconds, counts).

    make: programs.traffic or programs.churn.
    """
    lab = Lab(directory)
    stop = lab.directory / "stop"
    program = make(0, ranks, stop)
    counts, totals, stops = Counter(), [], []
    try:
        job = lab.start(program)
        job.wait_for(program.progress)
        for number in range(1, checkpoints + 1):
            timings = lab.checkpoint(job)["timings"]
            totals.append(timings["total"])
            stops.append(timings["stop"])
            counts["checkpoints"] += 1
            if number % VERIFY_EVERY == 0:
                assert lab.ckpt("verify").returncode == 0
                counts["verified"] += 1
                lab.ckpt("gc", "--keep", KEEP)
            if number % RESTART_EVERY == 0 or number == checkpoints:
                job.kill()
                job = lab.restart()
                job.wait_for(program.progress)
                counts["restarts"] += 1
                show(f"{number} checkpoints, {counts['restarts']} restarts")
        stop.touch()
        job.succeed()
        program.answer(job.lines, lab.work)
    finally:
        lab.close()
    return totals, stops, counts


def kill_at_random_moments(lab, program, stop_file, chance, pauses):
    """Runs a program that goes on until the stop file exists. Saves and kills it once for each of
    `pauses`: the most seconds before a checkpoint, and from there to the kill. The program must end
    well."""
    job = lab.start(program)
    for before, after in pauses:
        job.wait_for(program.progress)
        assert job.run_on(chance.uniform(0.0, before))
        lab.checkpoint(job)
        assert job.run_on(chance.uniform(0.0, after))
        job.kill()
        job = lab.restart()
    job.wait_for(program.progress)
    stop_file.touch()
    programs.ok_line(job.succeed(), lab.work)
