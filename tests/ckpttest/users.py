# SPDX-License-Identifier: BSD-3-Clause
"""users.py - two users of one machine: the victim keeps checkpoints where the other user can
write."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from . import processes
from .settings import INSTALL, TIMEOUT, environment

VICTIM, MALLORY = 5501, 5502
JOB = "job"
POLL = 0.02


def become(uid, *command):
    """Returns the command that runs `command` as this user."""
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *map(str, command)]


def is_possible():
    """Whether this user can become others, who can run the installed programs."""
    if os.geteuid() != 0:
        return False
    done = subprocess.run(
        become(VICTIM, INSTALL / "bin/ckpt", "--version"), cwd="/", capture_output=True,
        check=False,
    )  # fmt: skip
    return done.returncode == 0


def snapshot(directory):
    """Returns the content of a directory: names, kinds, bytes."""
    found = {}
    for path in sorted(directory.rglob("*")):
        name = str(path.relative_to(directory))
        if path.is_symlink():
            found[name] = ("link", os.readlink(path))
        else:
            found[name] = path.read_bytes() if path.is_file() else "other"
    return found


class TwoUsers:
    """A directory of the victim that all users can read.

    store: the victim's, and others can write into it; private: only the victim's."""

    def __init__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="ckpt-users-", dir="/var/tmp"))
        self.directory.chmod(0o755)
        self.store = self.directory / "store"
        self.private = self.directory / "private"
        self.run = self.directory / "run"
        self.evil = self.directory / "evil"  # mallory's
        self.pwned = self.directory / "evil/pwned"
        for path, mode in ((self.store, 0o700), (self.private, 0o755), (self.run, 0o700)):
            path.mkdir()
            path.chmod(mode)
            os.chown(path, VICTIM, VICTIM)
        self.evil.mkdir()
        self.evil.chmod(0o777)
        self.jobs = []
        (self.private / "000001").mkdir()
        for name in ("manifest.json", "node-vm.h5", "thesis", "000001/node-vm.h5"):
            (self.private / name).write_text(f"the victim's {name}\n", encoding="utf-8")
        for path in [*self.private.rglob("*")]:
            os.chown(path, VICTIM, VICTIM)
        self.before = snapshot(self.private)

    @property
    def job(self):
        """The directory of the victim's job."""
        return self.store / JOB

    def environment(self, **more):
        """Returns the environment of the victim's commands."""
        ours = {
            "CKPT_DIR": self.store, "CKPT_RUN_DIR": self.run, "HOME": self.directory,
            "TMPDIR": self.directory, "CKPT_KEEP": 9, "CKPT_TIMEOUT": "10s",
        }  # fmt: skip
        return environment(**{**ours, **more})

    def as_user(self, uid, *command, **more):
        """Runs a command to its end as this user."""
        return subprocess.run(
            become(uid, *command), cwd="/", env=self.environment(**more),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT,
            check=False,
        )  # fmt: skip

    def ckpt(self, *words, **more):
        """Runs a ckpt command as the victim."""
        return self.as_user(VICTIM, INSTALL / "bin/ckpt", *words, **more)

    def mallory(self, script):
        """Runs a shell script as the other user in the store; $EVIL and $PRIVATE are
        directories."""
        done = subprocess.run(
            become(MALLORY, "sh", "-e", "-c", script), cwd=self.store, check=False,
            capture_output=True, text=True,
            env={"EVIL": str(self.evil), "PRIVATE": str(self.private), "PATH": os.environ["PATH"],
                 "JOB": JOB},
        )  # fmt: skip
        assert done.returncode == 0, done

    def start(self, *options, job=JOB, **more):
        """Starts `ckpt run` as the victim, with a program that waits."""
        output = (self.directory / "output").open("wb")
        process = subprocess.Popen(
            become(VICTIM, INSTALL / "bin/ckpt", "run", "--name", job, *options, "--", "sleep",
                   "1000"),
            cwd="/", env=self.environment(**more), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
        output.close()
        self.jobs.append(process)
        return process

    def output(self):
        """Returns the output so far of the command that was started last."""
        return (self.directory / "output").read_text("utf-8", errors="replace")

    def status(self, job=JOB):
        """Returns the status of the running job, or None."""
        done = self.ckpt("status", job, "--json")
        found = json.loads(done.stdout) if done.returncode == 0 else [{}]
        return found[0] if found[0].get("phase") == "running" else None

    def wait_until(self, condition):
        """Waits until the condition is true; returns its value."""
        deadline = time.monotonic() + TIMEOUT
        while not (found := condition()):
            assert time.monotonic() < deadline, self.output()
            time.sleep(POLL)
        return found

    def save(self, count=1):
        """Runs a job, takes `count` checkpoints of it, and kills it."""
        self.start("--files", "ignore")
        self.wait_until(self.status)
        for _ in range(count):
            done = self.ckpt("checkpoint", JOB)
            assert done.returncode == 0, done
        self.kill()

    def kill(self):
        """Kills the victim's processes."""
        deadline = time.monotonic() + TIMEOUT
        found = True
        while found:
            assert time.monotonic() < deadline
            found = processes.started_with("CKPT_DIR", str(self.store))
            found = [pid for pid in found if processes.is_alive(pid)]
            for pid in found:
                processes.kill(pid)
            for job in self.jobs:
                job.poll()
            time.sleep(POLL)

    def expect_unharmed(self):
        """The victim's files are unchanged, and no file of the other user was executed."""
        assert not self.pwned.exists()
        assert snapshot(self.private) == self.before

    def close(self):
        """Removes everything, also what a process that is just starting may add."""
        while self.directory.exists():
            self.kill()
            shutil.rmtree(self.directory, ignore_errors=True)
