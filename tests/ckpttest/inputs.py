# SPDX-License-Identifier: BSD-3-Clause
"""inputs.py - standard inputs of jobs, and jobs under `ckpt run` that are killed while they
read."""

import collections
import contextlib
import os
import random
import re
import subprocess
import termios
import threading
import time

from . import non_mpi, processes

STAGES = 60
LAMMPS = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 {cells} 0 {cells} 0 {cells}
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
fix 1 all nve
"""


def lammps_melt(cells):
    """Returns the beginning of a LAMMPS script: a cube with `cells` cells on each side."""
    return LAMMPS.format(cells=cells)


def numbers(count):
    """Returns the input that apps/reader expects."""
    return "".join(f"{i} {'x' * (i % 40)}\n" for i in range(count))


def stages():
    """Returns a script for LAMMPS whose stages each print their number."""
    text = lammps_melt(6) + "thermo 100\n"
    for i in range(STAGES):
        text += f'# {"x" * 200}\nprint "stage {i}"\nrun 100\n'
    return text + 'print "the end"\nquit\n'


def check_stages(log):
    """LAMMPS's own log must have each stage once."""
    text = log.read_text(encoding="utf-8")
    found = [int(n) for n in re.findall(r"^stage (\d+)$", text, re.MULTILINE)]
    assert found == list(range(STAGES)), found
    assert text.count("\nthe end\n") == 1


@contextlib.contextmanager
def from_file(lab, text):
    """Standard input is a file."""
    path = lab.directory / "input"
    path.write_text(text, encoding="utf-8")
    with path.open("rb") as file:
        yield file


def _write(fd, text, pause):
    with contextlib.suppress(OSError):  # the reader has ended
        for line in text.splitlines(keepends=True):
            os.write(fd, line.encode())
            time.sleep(pause)  # the producer's own pace


@contextlib.contextmanager
def _producer(fd, text, pause, end):
    thread = threading.Thread(target=lambda: (_write(fd, text, pause), end()), daemon=True)
    thread.start()
    yield
    thread.join()


@contextlib.contextmanager
def from_pipe(lab, text, pause=0.0):
    """Standard input is a pipe that another process writes to."""
    del lab
    reader, writer = os.pipe()
    with _producer(writer, text, pause, lambda: os.close(writer)):
        yield reader
        os.close(reader)


@contextlib.contextmanager
def from_slow_pipe(lab, text):
    """Standard input is a pipe that is still being written at the first checkpoints."""
    with from_pipe(lab, text, 0.005) as reader:
        yield reader


@contextlib.contextmanager
def from_terminal(lab, text):
    """Standard input is a terminal: a user types line by line, then ^D."""
    del lab
    master, slave = os.openpty()
    attributes = termios.tcgetattr(slave)
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    with _producer(master, text, 0.002, lambda: os.write(master, b"\x04")):
        yield slave
        os.close(slave)
    os.close(master)


SOURCES = {
    "file": from_file,
    "pipe": from_pipe,
    "slow pipe": from_slow_pipe,
    "terminal": from_terminal,
}


def start(lab, command, stdin, *options):
    """Starts the command under `ckpt run`."""
    run = [lab.ckpt_program, "run", "--name", non_mpi.name(lab), *options, "--", *command]
    # pylint: disable-next=protected-access
    return lab._start(run, {}, stdin)


def kill_a_rank(lab, chance):
    """Sends SIGKILL to a random rank. Returns False if no rank runs just now."""
    found = non_mpi.status(lab)
    ranks = found["ranks"] if found else []
    pids = [rank["pid"] for rank in ranks if rank["pid"] > 0]
    if not pids:
        return False
    processes.kill(chance.choice(pids))
    return True


def ranks_below(job, name):
    """Returns the processes that run the program, or are about to."""
    return [p for p in job.ranks() if processes.name_of(p) in (name[:15], "ckpt-restart")]


def torment(lab, job, chance, kills, pauses=(0.1, 0.6)):
    """Saves and kills at random moments until the job ends; counts both."""
    counts = collections.Counter()
    while counts["kills"] < kills and job.run_on(chance.uniform(*pauses)):
        if lab.ckpt("checkpoint", non_mpi.name(lab)).returncode != 0:
            # The ranks are just starting; two kills without a checkpoint would end the job.
            continue
        counts["checkpoints"] += 1
        if not job.run_on(chance.uniform(0, pauses[1])):
            break
        counts["kills"] += kill_a_rank(lab, chance)
    return counts


def run_lammps(lab, command, kills, seed, source=from_file):
    """Runs LAMMPS of 60 stages until there have been `kills` kills; returns the counts."""
    chance = random.Random(seed)
    totals = collections.Counter()
    log = lab.work / "log.stages"
    while totals["kills"] < kills:
        lab.close()
        subprocess.run(["rm", "-rf", lab.store, log], check=True)
        options = ["--back-off", "10ms", "--max-restarts", str(10 * kills + 10)]
        with source(lab, stages()) as stdin:
            job = start(lab, command, stdin, *options)
            totals += torment(lab, job, chance, kills - totals["kills"])
            lines = job.succeed()
        check_stages(log)
        totals["runs"] += 1
        totals["restarts"] += sum("; restart " in line for line in lines)
    return totals


def run_lammps_by_srun(cluster, directory, kills, seed):
    """Does the same on a Slurm cluster, with three checkpoints a second; returns the counts."""
    chance = random.Random(seed)
    totals = collections.Counter()
    directory.mkdir(parents=True)
    (directory / "input").write_text(stages(), encoding="utf-8")
    script = directory / "script"
    options = f"--interval 300ms --back-off 10ms --max-restarts {10 * kills + 10}"
    script.write_text(
        f"#!/bin/sh\nckpt run {options} -- srun lmp -log log.stages < input\n", encoding="utf-8"
    )
    while totals["kills"] < kills:
        subprocess.run(["rm", "-rf", directory / "ckpt", directory / "log.stages"], check=True)
        job = cluster.submit(
            directory, script, options=["--nodes=2", "--ntasks-per-node=1"]
        )
        job.wait_for(r"^stage")
        newest = 0
        while totals["kills"] < kills and job.facts()["JobState"] == "RUNNING":
            time.sleep(chance.uniform(0.1, 1))  # a random moment
            found = non_mpi.newest(directory / "ckpt")
            if found == newest:
                continue  # two kills without a checkpoint between them end the job
            newest = found
            with contextlib.suppress(StopIteration):  # the job is just starting, or has ended
                cluster.kill_a_rank("lmp")
                totals["kills"] += 1
        job.succeed()
        check_stages(directory / "log.stages")
        totals["runs"] += 1
        totals["restarts"] += sum("; restart " in line for line in job.lines)
        totals["checkpoints"] += newest
    return totals
