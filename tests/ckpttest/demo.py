# SPDX-License-Identifier: BSD-3-Clause
"""demo.py - a LAMMPS run survives kill -9; the code of run-demo."""

import shlex
import shutil
import sys
import time

from . import programs, table
from .lab import Lab
from .settings import BUILD, TOP

STEPS = 1500
SAVE_AT = 600  # step of the checkpoint
KILL_AT = 800


def say(text):
    """Prints a headline."""
    print(f"\n== {text}", flush=True)


def show_command(job):
    """Prints the command that a user would type."""
    words = shlex.join(job.command).replace(f"{TOP}/", "")
    print(f"$ {words}", flush=True)


def run_undisturbed(lab, program):
    """Runs the program undisturbed for comparison; returns its answer and
    duration."""
    job = lab.start_native(program)
    show_command(job)
    job.succeed(300)
    lines = program.answer(job.lines, lab.work)
    print(f"{len(lines)} lines of thermodynamic output")
    return lines, time.monotonic() - job.started


def run_and_kill(lab, program):
    """Runs the program to the checkpoint and a bit further, then kills
    everything."""
    job = lab.start(program)
    show_command(job)
    job.wait_for(rf"^ +{SAVE_AT} ", timeout=300)
    say(f"step {SAVE_AT}: ckpt checkpoint")
    saved = lab.checkpoint(job)
    print(f"committed {saved['name']}")
    job.wait_for(rf"^ +{KILL_AT} ", timeout=300)
    ranks = job.ranks()
    say(f"step {KILL_AT}: kill -9 of ranks {ranks} and mpirun {job.pid}")
    job.kill()
    return job, saved


def first_line_time(job, program):
    """Returns the seconds from the start of a job to its first line of
    results."""
    line = job.wait_for(program.progress, timeout=300).string
    return job.times[job.lines.index(line)] - job.started


def compare(expected, restarted):
    """Shows some lines of the undisturbed and of the restarted run."""
    for step in sorted(restarted):
        if step in (min(restarted), KILL_AT, KILL_AT + 10, STEPS):
            print(f"  undisturbed {expected[step]}")
            print(f"  restarted   {restarted[step]}")


def main():
    """The demo; exit code 0 if the results are equal."""
    place = BUILD / "demo"
    shutil.rmtree(place, ignore_errors=True)
    lab = Lab(place)
    program = programs.lammps(STEPS)
    try:
        say("LAMMPS, 32,000 atoms, 2 ranks, undisturbed")
        expected, native_seconds = run_undisturbed(lab, program)
        say("the same with mpirun --tune")
        first, saved = run_and_kill(lab, program)
        say("ckpt restart")
        second = lab.restart()
        show_command(second)
        restart_seconds = first_line_time(second, program)
        second.succeed(300)
        found = lab.answer(program, first, second)
        say("comparison")
        compare(expected, program.answer(second.lines, lab.work))
    finally:
        lab.close()
    equal = found == expected
    print(f"\nall {len(expected)} lines of output: ", end="")
    print("equal digit for digit" if equal else "DIFFERENT", end="\n\n")
    rows = [
        ("undisturbed run", table.seconds(native_seconds)),
        (
            "checkpoint, request to commit",
            table.seconds(saved["timings"]["total"]),
        ),
        ("ranks stood still for", table.seconds(saved["timings"]["stop"])),
        ("image", f"{saved['bytes']:,} bytes"),
        ("of memory", f"{saved['memory_bytes']:,} bytes"),
        ("ckpt restart to the next line", table.seconds(restart_seconds)),
    ]
    print(table.render(["what", "measured"], rows))
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
