# SPDX-License-Identifier: BSD-3-Clause
"""measure.py - the measurements, each with and without ckpt in one run."""

import os
import platform
import re
import subprocess
import time
from pathlib import Path

from ckpttest import processes, programs, scheduling
from ckpttest.lab import Lab
from ckpttest.settings import BUILD, TOP

LATENCY_MS = 150  # for each quantity
MEMORY_MB = 500  # per rank
BLOCK = 8 << 20  # bytes of one write()


def named_seconds(*argv):
    """Returns {name: [seconds, ...]} of a program that prints such lines."""
    command = [str(word) for word in argv]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = {}
    for line in done.stdout.splitlines():
        name, seconds = line.split()
        found.setdefault(name, []).append(float(seconds))
    return found


def save_often(lab, program, count, limit):
    """Takes checkpoints of a job and kills it; returns the reports of `ckpt checkpoint`. Waits for
    the end of the agent, which may still be removing checkpoints."""
    job = lab.start(program)
    saved = []
    for _ in range(count):
        job.wait_for(program.progress, timeout=limit)
        saved.append(lab.checkpoint(job))
    (status,) = lab.ckpt_json("status", job.pid)
    job.kill()
    processes.wait_until_gone([status["agent_pid"]], limit)
    return saved


def machine():
    """Returns facts about this machine and moment."""
    cpus = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    commit = subprocess.run(
        ["git", "-C", TOP, "describe", "--always", "--dirty"],
        capture_output=True,
        text=True,
        check=False,
    )
    return {
        "processor": re.search(r"model name\s*: (.*)", cpus)[1],
        "processors": os.cpu_count(),
        "kernel": platform.release(),
        "shares of processors": scheduling.describe(),
        "load average before": os.getloadavg(),
        "commit": commit.stdout.strip(),
        "date": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
    }


def _both(lab, program, pairs, read):
    """Runs a program in alternating pairs; returns the results of `read` on each job."""
    results = {"native": [], "ckpt": []}
    for pair in range(pairs):
        kinds = [("native", lab.start_native), ("ckpt", lab.start)]
        for name, start in kinds if pair % 2 == 0 else reversed(kinds):
            job = start(program)
            job.succeed(300)
            results[name].append(read(job))
    return results


def latency(lab, pairs):
    """Returns {quantity: {"native": [(min, median), ...], "ckpt": [...]}}, seconds."""
    argv = [BUILD / "benchmarks/latency", LATENCY_MS]
    runs = _both(
        lab,
        programs.Program("latency", argv, 2, ""),
        pairs,
        lambda job: {
            words[0]: (float(words[1]), float(words[2]))
            for words in map(str.split, job.lines)
            if len(words) == 3
        },
    )
    return {
        name: {kind: [run[name] for run in runs[kind]] for kind in runs}
        for name in runs["native"][0]
    }


def instructions(lab, repetitions=20):
    """Returns {function: {"native": (all, 0), "ckpt": (all, in our library)}}: the instructions of
    a call that can complete at once."""
    argv = [BUILD / "benchmarks/count_instructions", BUILD / "benchmarks/calls"]
    program = programs.Program("calls", [*argv, repetitions], 2, "")
    (native,), (ckpt,) = _both(
        lab,
        program,
        1,
        lambda job: {
            words[0]: (int(words[1]), int(words[2]))
            for words in map(str.split, job.lines)
            if len(words) == 3
        },
    ).values()
    return {name: {"native": native[name], "ckpt": ckpt[name]} for name in native}


def lammps(lab, pairs):
    """Returns LAMMPS' own loop time, and the time of the whole mpirun; seconds."""

    def read(job):
        text = "\n".join(job.lines)
        loop = float(re.search(r"^Loop time of ([\d.]+)", text, re.M)[1])
        return loop, job.times[-1] - job.started

    return _both(lab, programs.lammps(500, 2, 100), pairs, read)


def empty_checkpoints(lab, count):
    """Takes checkpoints of ranks without anything to save; returns a list of timings, including the
    time of the whole command."""
    stop = lab.directory / "stop"
    job = lab.start(programs.idle(stop))
    job.wait_for("^tick")
    results = []
    for _ in range(count):
        began = time.monotonic()
        saved = lab.checkpoint(job)
        command = time.monotonic() - began
        results.append({**saved["timings"], "command": command, **sizes(saved)})
    stop.touch()
    job.succeed()
    return results


def sizes(saved):
    """Returns the size of a checkpoint's content, bytes."""
    return {"bytes": saved["bytes"], "memory": saved["memory_bytes"]}


def plain_write(directory, size, block):
    """Returns the seconds to write `size` bytes into a new file in sequence, to disk."""
    path = directory / "plain"
    began = time.monotonic()
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for at in range(0, size, len(block)):
        os.write(fd, block[: min(len(block), size - at)])
    os.fsync(fd)
    os.close(fd)
    seconds = time.monotonic() - began
    path.unlink()
    return seconds


def large_checkpoints(lab, count):
    """Takes checkpoints of much random memory, each followed by a plain write of as many bytes to
    the same disk; then kills and restarts."""
    program = programs.memory(MEMORY_MB, 1000000, pause_us=20000)
    job = lab.start(program)
    job.wait_for(program.progress, timeout=120)
    block = memoryview(os.urandom(BLOCK))
    plain_write(lab.directory, 4 * BLOCK, block)  # warm
    lab.checkpoint(job)
    results = []
    for _ in range(count):
        saved = lab.checkpoint(job)
        lab.ckpt("gc", "--keep", "1")
        plain = plain_write(lab.directory, saved["bytes"], block)
        results.append({**saved["timings"], "plain": plain, **sizes(saved)})
    return results, restarts(lab, job, program, count)


def restarts(lab, job, program, count):
    """Returns the seconds from a kill to the first line of the restarted program."""
    results = []
    for _ in range(count):
        began = time.monotonic()
        job.kill()
        job = lab.restart()
        job.wait_for(program.progress, timeout=120)
        results.append(job.times[0] - began)
    job.kill()
    return results


def everything(directory, pairs, count, say):
    """Returns all results of one run, as plain data."""
    results = {"machine": machine()}
    steps = [
        ("latency", lambda lab: latency(lab, pairs)),
        ("instructions", instructions),
        ("lammps", lambda lab: lammps(lab, pairs)),
        ("empty", lambda lab: empty_checkpoints(lab, 5 * count)),
        ("large", lambda lab: large_checkpoints(lab, count)),
    ]
    for name, step in steps:
        say(f"measuring: {name}")
        lab = Lab(directory / name)
        try:
            results[name] = step(lab)
        finally:
            lab.close()
    results["machine"]["load average after"] = os.getloadavg()
    return results
