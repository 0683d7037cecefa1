# SPDX-License-Identifier: BSD-3-Clause
"""A job with periodic checkpoints loses its checkpoint directory. It runs on unharmed, and status
and metrics show since when it is unprotected."""

import contextlib
import hashlib
import os
import re
import subprocess
import time
from contextlib import contextmanager

import pytest

from ckpttest import failing, non_mpi, processes, programs

INTERVAL = 0.5
TICKER = """
import time
n = 0
while True:
    print('tick', n, flush=True)
    n += 1
    time.sleep(0.02)
"""
RESUMABLE = 75


def start(lab, *options):
    """Starts a job with periodic checkpoints and waits for the first; returns the job and its
    metrics file."""
    metrics = lab.directory / "metrics"
    job = non_mpi.start(
        lab,
        "python3",
        "-c",
        TICKER,
        options=("--interval", INTERVAL, "--metrics", metrics, *options),
    )
    non_mpi.wait_until(job, lambda: (non_mpi.status(lab) or {}).get("committed"))
    return job, metrics


def since(metrics):
    """Returns the time at which protection ended, from the metrics."""
    text = metrics.read_text(encoding="utf-8")
    return float(re.search(r"ckpt_unprotected_since_seconds{.*} (\S+)", text)[1])


def ticks(job):
    lines = [line for line in job.lines if line.startswith("tick")]
    numbers = [re.fullmatch(r"tick (\d+)", line) for line in lines]
    assert all(numbers), [line for line, number in zip(lines, numbers, strict=True) if not number]
    return [int(number[1]) for number in numbers]


def vanish(lab):
    """Removes the job's directory so that even root cannot make it again; returns a function that
    undoes that."""
    directory = lab.store / non_mpi.name(lab)
    aside = lab.directory / "aside"
    directory.rename(aside)
    directory.write_text("in the way", encoding="utf-8")

    def undo():
        directory.unlink()
        aside.rename(directory)

    return undo


@contextmanager
def vanishing(lab):
    """Yields a function that makes the directory vanish."""
    yield lambda: vanish(lab)


@contextmanager
def mounted(lab, *options):
    """Mounts a separate file system in place of the store."""
    lab.store.mkdir(mode=0o700, exist_ok=True)
    subprocess.run(["mount", *options, lab.store], check=True)
    try:
        yield
    finally:
        lab.close()
        subprocess.run(["umount", "-l", lab.store], check=True)


@contextmanager
def filling(lab):
    """A small file system that becomes full."""

    def fill():
        filler = lab.store / "filler"
        with filler.open("wb") as file, pytest.raises(OSError, match="No space"):
            while True:
                os.write(file.fileno(), bytes(4096))
        return filler.unlink

    with mounted(lab, "-t", "tmpfs", "-o", "size=64m,mode=700", "none"):
        yield fill


@contextmanager
def becoming_read_only(lab):
    """The store's directory becomes read-only, by a bind mount."""

    def protect():
        subprocess.run(["mount", "--bind", lab.store, lab.store], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", lab.store], check=True)
        return lambda: subprocess.run(["umount", "-l", lab.store], check=True)

    with mounted(lab, "-t", "tmpfs", "-o", "size=64m,mode=700", "none"):
        yield protect


@contextmanager
def slowing_down(lab):
    """A disk on which each write takes 2 s."""
    files = failing.FailingFiles(lab.directory / "failing", [lab.store])
    lab.settings |= files.slow_settings()
    lab.wrap = files.wrap

    def slow_down():
        files.slow.touch()
        return files.slow.unlink

    yield slow_down


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounts file systems")
WAYS = [
    vanishing,
    pytest.param(filling, marks=as_root),
    pytest.param(becoming_read_only, marks=as_root),
]
SLOWLY = pytest.param(
    slowing_down,
    marks=pytest.mark.skipif(
        not failing.is_possible(), reason="no mount namespaces for this user"
    ),
)


@pytest.mark.parametrize("way", [*WAYS, SLOWLY])
def test_the_directory_cannot_be_used_and_can_be_again(lab, way):
    with way(lab) as spoil:
        job, metrics = start(lab)
        assert since(metrics) == 0
        before = time.time()
        undo = spoil()
        job.wait_for("^ckpt: the job is unprotected: ")
        non_mpi.wait_until(job, lambda: since(metrics) > 0)
        assert before - 1 <= since(metrics) <= time.time()
        non_mpi.wait_until(
            job, lambda: "UNPROTECTED since " in lab.ckpt("status", non_mpi.name(lab)).stdout
        )
        count = len(ticks(job))
        non_mpi.wait_until(job, lambda: len(ticks(job)) > count + 50)
        undo()
        job.wait_for("^ckpt: the job is protected again")
        non_mpi.wait_until(job, lambda: since(metrics) == 0)
        saved = (non_mpi.status(lab) or {}).get("committed")
        non_mpi.wait_until(job, lambda: (non_mpi.status(lab) or {}).get("committed", 0) > saved)
        numbers = ticks(job)
        assert numbers == list(range(len(numbers)))  # nor has the job been restarted
        assert lab.ckpt("verify", non_mpi.name(lab)).returncode == 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("stops", [True, False])
def test_what_the_user_wants_then(lab, stops, way):
    with way(lab) as spoil:
        job, _ = start(lab, "--unprotected", "stop" if stops else "go")
        undo = spoil()
        job.wait_for("^ckpt: the job is unprotected: ")
        if stops:
            job.wait_for("^ckpt: the job is ended: it could not be saved for a whole interval")
            assert job.finish() in (RESUMABLE, 128 + 15)
            assert not [line for line in job.lines if "; restart " in line]
        else:
            count = len(ticks(job))
            non_mpi.wait_until(job, lambda: len(ticks(job)) > count + 100)
            assert not [line for line in job.lines if "is ended" in line]
        undo()


@as_root
def test_a_job_that_is_lost_meanwhile_goes_on_afterwards(lab):
    """The job restarts from its newest checkpoint, and not from the beginning."""
    with becoming_read_only(lab) as spoil:
        job, metrics = start(lab)
        pid = non_mpi.process_of(lab, job)
        undo = spoil()
        non_mpi.wait_until(job, lambda: since(metrics) > 0)
        saved = non_mpi.newest(lab.store)
        processes.kill(pid)
        job.wait_for("; it is tried again")
        undo()
        job.wait_for("^tick [1-9]")
        non_mpi.process_of(lab, job)
        assert any(f"/{saved}" in line for line in job.lines if "; restart 1 " in line), job.lines
        assert len([line for line in job.lines if line == "tick 0"]) == 1


@as_root
def test_a_program_begins_in_a_full_directory(lab):
    """Under mpirun the program runs without checkpoints; ckpt run says why it does not start."""
    program = programs.ring(1000)
    with filling(lab) as fill:
        fill()
        job = lab.start(program)
        assert program.answer(job.succeed(), lab.work)
        refused = lab.ckpt("run", "--name", "job", "--", "touch", lab.work / "begun")
        assert refused.returncode != 0 and "No space left" in refused.stderr, refused
        assert not (lab.work / "begun").exists()


READER = """
import hashlib, sys, time
content = hashlib.sha256()
while part := sys.stdin.buffer.read(1 << 16):
    content.update(part)
    time.sleep(0.01)
print('read', content.hexdigest(), flush=True)
"""


@as_root
@pytest.mark.parametrize("is_freed", [True, False])
def test_a_program_reads_its_input_while_the_directory_is_full(lab, is_freed):
    """The input is kept for restarts, but the program gets all of it in any case."""
    text = os.urandom(8 << 20)
    with filling(lab) as fill:
        lab.store.joinpath("room").write_bytes(bytes(2 << 20))
        undo = fill()
        lab.store.joinpath("room").unlink()  # makes room for a part of the input
        source = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        command = [lab.ckpt_program, "run", "--name", non_mpi.name(lab), "--", "python3", "-c",
                   READER]
        job = lab._start(command, {}, source.stdout)  # pylint: disable=protected-access
        source.stdout.close()
        source.stdin.write(text[: len(text) // 2])
        source.stdin.flush()
        job.wait_for("stdin.part cannot be written: No space left")
        if is_freed:
            undo()
            job.wait_for("^ckpt: the standard input is in .*stdin.part again")
        with contextlib.suppress(BrokenPipeError):  # the job's end shows why
            source.stdin.write(text[len(text) // 2 :])
            source.stdin.close()
        lines = job.succeed()
        assert f"read {hashlib.sha256(text).hexdigest()}" in lines
        assert source.wait() == 0
