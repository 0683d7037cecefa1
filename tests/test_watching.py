# SPDX-License-Identifier: BSD-3-Clause
"""What a user and a site's monitoring see of a job: `ckpt status --watch`, and metrics for
Prometheus."""

import os
import pty
import re
import time

import pytest

from ckpttest import non_mpi, processes, programs
from ckpttest.lab import POLL
from ckpttest.settings import TIMEOUT

NAME = "watched"


@pytest.fixture(name="stop")
def stop_file(lab):
    """Returns the file that ends the program."""
    return lab.directory / "stop"


def start(lab, stop, *options, **settings):
    """Starts `ckpt run` with a program that sleeps until its stop file exists."""
    run = [lab.ckpt_program, "run", "--name", NAME, *options, "--"]
    program = programs.idle(stop)
    # pylint: disable-next=protected-access
    job = lab._start([*run, *lab.mpirun_command(program)], settings)
    job.wait_for(program.progress)
    return job


def read_metrics(text):
    """Returns the samples by name, and by the label `state` if they have it."""
    samples = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, labels, value = re.fullmatch(r"(\w+)\{(.*)\} (\S+)", line).groups()
            assert f'job="{NAME}"' in labels
            state = re.search(r'state="(\w+)"', labels)
            samples[(name, state[1]) if state else name] = float(value)
    return samples


def wait_for_metrics(path, name, value):
    """Waits until the file has this value; returns all samples."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        if path.exists():
            samples = read_metrics(path.read_text(encoding="utf-8"))
            if samples[name] == value:
                return samples
        assert time.monotonic() < deadline, samples
        time.sleep(POLL)


def test_file_of_metrics(lab, stop):
    """The metrics agree with the commands' output, and finally report the job's end."""
    host = os.uname().nodename
    job = start(lab, stop, "--metrics", "%j@%h.prom")
    path = lab.work / f"{NAME}@{host}.prom"
    before = wait_for_metrics(path, "ckpt_checkpoints_committed_total", 0)
    assert before["ckpt_job_ranks"] == 2
    assert "ckpt_last_checkpoint_bytes" not in before
    saved = [lab.ckpt_json("checkpoint", NAME) for _ in range(2)]
    after = wait_for_metrics(path, "ckpt_checkpoints_committed_total", 2)
    assert after["ckpt_last_checkpoint_number"] == saved[1]["number"]
    assert after["ckpt_last_checkpoint_bytes"] == saved[1]["bytes"]
    assert after["ckpt_written_bytes_total"] == sum(s["bytes"] for s in saved)
    assert after["ckpt_saved_memory_bytes_total"] == sum(s["memory_bytes"] for s in saved)
    assert after["ckpt_checkpoints_failed_total"] == 0
    printed = lab.ckpt("status", "--prometheus", NAME).stdout
    assert read_metrics(printed).keys() == after.keys()
    stop.touch()
    job.succeed()
    last = wait_for_metrics(path, ("ckpt_job_state", "ended"), 1)
    assert last["ckpt_checkpoints_committed_total"] == 2
    assert last[("ckpt_job_state", "running")] == 0
    assert [path.name for path in lab.work.glob("*.prom*")] == [path.name]
    assert path.stat().st_mode & 0o777 == 0o644


def test_metrics_that_cannot_be_written(lab, stop):
    """There is one warning, and no other difference."""
    job = start(lab, stop, "--metrics", lab.directory / "nowhere/metrics")
    for _ in range(2):
        lab.ckpt_json("checkpoint", NAME)
    stop.touch()
    job.succeed()
    (log,) = lab.store.glob(f"{NAME}/ckptd-*.log")
    deadline = time.monotonic() + TIMEOUT
    while "has ended" not in log.read_text(encoding="utf-8"):
        assert time.monotonic() < deadline
    assert log.read_text(encoding="utf-8").count("nowhere/metrics") == 1


def test_watch_over_a_restart(lab, stop):
    """The watch finds the job's next agent, and the job's end."""
    job = start(lab, stop)
    lab.ckpt_json("checkpoint", NAME)
    # pylint: disable-next=protected-access
    watch = lab._start([lab.ckpt_program, "status", "--watch=50ms", NAME], {})
    launcher = watch.wait_for(r"^program +2 ranks of .*idle, mpirun (\d+)")[1]
    watch.wait_for(f"^last +{NAME}/1, ")
    ranks = [pid for pid in job.ranks() if processes.name_of(pid) == "idle"]
    processes.kill(ranks[0])
    job.wait_for("^ckpt: .*; restart 1 of at most")
    watch.wait_for(rf"^program .*mpirun (?!{launcher}\b)")
    watch.wait_for("1 earlier launches have failed")
    stop.touch()
    job.succeed()
    assert f"job         {NAME}: ended" in "\n".join(watch.succeed())


def start_on_terminal(command, environment):
    """Starts a command on a terminal; returns its process id and the terminal's other end."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(command[0], [str(word) for word in command], environment)
    return pid, terminal


def test_watch_on_a_terminal(lab, stop):
    """The status is redrawn in place, and the command ends on Ctrl-C."""
    job = start(lab, stop)
    command = [lab.ckpt_program, "status", "--watch=50ms", NAME]
    pid, terminal = start_on_terminal(command, lab.environment())
    shown = ""
    while shown.count("\x1b[J") < 3:
        shown += os.read(terminal, 65536).decode()
    lines = shown.split("\x1b[J")[1].splitlines()
    assert lines[0].startswith(f"job         {NAME}: running")
    assert lines[-1].startswith(f"\x1b[{len(lines) - 1}A")
    assert max(map(len, lines)) < 80
    os.write(terminal, b"\x03")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(terminal)
    stop.touch()
    job.succeed()


def test_progress_in_bytes(lab):
    """Progress is reported during writing, not only when a node has finished."""
    name = non_mpi.name(lab)
    program = programs.memory(8, 10**6)
    job = lab.start(program, CKPT_NAME=name, CKPT_CODEC="none", CKPT_WRITE_RATE="4M")
    job.wait_for(program.progress)
    request = lab.ckpt_in_background("checkpoint", name)

    def told():
        (status,) = lab.ckpt_json("status", name)
        return status["progress"] and status["progress"]["bytes_done"]

    first = non_mpi.wait_until(job, told)
    non_mpi.wait_until(job, lambda: told() > first)
    assert request.poll() is None
    job.kill()
    request.communicate(timeout=TIMEOUT)
