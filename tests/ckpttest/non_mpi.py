# SPDX-License-Identifier: BSD-3-Clause
"""alone.py - programs without MPI under `ckpt run`, saved and killed as they run."""

import json
import os
import subprocess
import time

from . import processes
from .lab import POLL
from .settings import TIMEOUT


def name(lab):
    """Returns a job name that jobs of concurrent tests do not have."""
    return f"alone-{os.getpid()}-{lab.directory.name}"


def lines_of(*command):
    """Returns the output lines of a run without ckpt."""
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        check=True,
        text=True,
        timeout=TIMEOUT,
    ).stdout.splitlines()


def start(lab, *command, options=(), before=(), **settings):
    """Starts `ckpt run -- command` as the job name(lab). before: a command that executes `ckpt
    run`."""
    run = [*before, lab.ckpt_program, "run", "--name", name(lab), *options, "--", *command]
    return lab._start(run, settings)  # pylint: disable=protected-access


def status(lab):
    """Returns what `ckpt status` says about the running job, or None."""
    done = lab.ckpt("status", name(lab), "--json")
    found = json.loads(done.stdout) if done.returncode == 0 else [{}]
    return found[0] if found[0].get("phase") == "running" else None


def newest(store):
    """Returns the number of the newest checkpoint in the directory, 0 if it has no checkpoint."""
    return max((int(path.parent.name) for path in store.glob("*/0*/manifest.json")), default=0)


def wait_until(job, condition):
    """Waits until the condition holds while the job runs; returns the condition's value."""
    deadline = time.monotonic() + TIMEOUT
    while not (found := condition()):
        assert time.monotonic() < deadline, "it does not come true"
        assert job.run_on(POLL), "\n".join(["it ended", *job.lines[-10:]])
    return found


def process_of(lab, job):
    """Returns the program's process id, once the program has an agent."""
    return wait_until(job, lambda: status(lab))["ranks"][0]["pid"]


def is_process(lab, pid):
    """Whether the running job is the process `pid`, not a process that has just ended."""
    found = status(lab)
    return found is not None and found["ranks"][0]["pid"] == pid


def save(lab):
    """Takes a checkpoint, which must be committed; returns its name."""
    return lab.ckpt_json("checkpoint", name(lab))["name"]


def kill(lab, job):
    """Sends SIGKILL to the program, as the kernel may do."""
    pid = process_of(lab, job)
    processes.kill(pid)
    assert processes.wait_until_gone([pid], TIMEOUT)


def save_twice_and_kill(lab, job):
    """Takes two checkpoints and kills the program, which `ckpt run` then starts again."""
    process_of(lab, job)
    save(lab)
    last = save(lab)
    kill(lab, job)
    job.wait_for(f"restart 1 of .* from {last}")
