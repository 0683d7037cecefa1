# SPDX-License-Identifier: BSD-3-Clause
"""store_crashes.py - commands that work on one directory at once and are killed at fault
points and at random moments.

After each round nothing runs any more. Then what was committed is there and whole, or a later
checkpoint in its place; files of others are as they were; and at no time were there two
copies of the job.
"""

import json
import shutil
import subprocess
import threading
import time
from collections import Counter

from . import processes
from .lab import Lab
from .settings import PATIENCE

JOB = "job"
PROGRAM = "ckpt-sleeper"  # a process of this name is a copy of the job
KEEP = 3

AGENT_FAULTS = [
    "image-during-capture", "image-before-rename", "image-after-rename",
    "text-file-before-rename", "owner-before-rename", "remove-after-manifest",
    "agent-before-manifest", "agent-during-capture", "agent-during-flush",
    "agent-before-slow-manifest", "agent-at-join", "agent-in-align", "agent-in-save",
    "agent-in-write", "agent-in-commit", "agent-in-undo", "image-write-enospc",
    "image-close-enospc", "flush-enospc", "trace-write-enospc",
]  # fmt: skip
COMMAND_FAULTS = ["owner-before-rename", "text-file-before-rename", "remove-after-manifest"]


class Violation(AssertionError):
    """What must not be."""


class Copies(threading.Thread):
    """Looks all the time how many copies of the job are alive."""

    def __init__(self):
        super().__init__(daemon=True)
        self._over = threading.Event()
        self.most = 0
        self.seen = []

    def _alive(self):
        return [pid for pid in processes.named(PROGRAM) if processes.is_alive(pid)]

    def run(self):
        while not self._over.wait(0.02):
            found = self._alive()
            if len(found) > 1:  # one that is just dying is no copy
                self._over.wait(0.2)
                found = [pid for pid in self._alive() if pid in found]
            if len(found) > self.most:
                self.most = len(found)
                self.seen = [self._describe(pid) for pid in found]

    @staticmethod
    def _describe(pid):
        done = subprocess.run(
            ["ps", "-o", "pid,ppid,etimes,stat,args", "-p", str(pid)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.stdout.splitlines()[-1]

    def end(self):
        """The largest number that was seen."""
        self._over.set()
        self.join()
        return self.most


class Crashes:
    """One directory and its rounds."""

    def __init__(self, directory, chance, is_tiered):
        self.lab = Lab(directory)
        self.chance = chance
        self.counts = Counter()
        self.program = self.lab.work / PROGRAM
        shutil.copy("/usr/bin/sleep", self.program)
        self.lab.settings |= {
            "CKPT_SNAPSHOT": "stop", "CKPT_FILES": "ignore", "CKPT_KEEP": str(KEEP),
            "CKPT_TIMEOUT": "10s", "TMPDIR": str(self.lab.directory),
        }  # fmt: skip
        self.foreign = {}
        if is_tiered:
            slow = self.lab.directory / "slow"
            self.lab.settings["CKPT_DIR"] = f"{self.lab.store},{slow}"
        self.newest = 0
        self.running = []

    def _start(self, *words, fault=None):
        more = {"CKPT_FAULT": fault} if fault else {}
        process = subprocess.Popen(
            [self.lab.ckpt_program, *words],
            cwd=self.lab.work, env=self.lab.environment(**more), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.running.append(process)
        self.counts[words[0]] += 1

    def _fault(self, names):
        if self.chance.random() < 0.4:
            return None
        return f"{self.chance.choice(names)}:{self.chance.randint(1, 4)}"

    def _run_job(self):
        options = ["--incremental=2"] if self.chance.random() < 0.5 else []
        self._start(
            "run", "--name", JOB, "--resume", "--interval", "0.1", *options, "--",
            self.program, "100000", fault=self._fault(AGENT_FAULTS),
        )  # fmt: skip

    def _act(self):
        kind = self.chance.choice(["gc", "checkpoint", "verify", "restart", "run"])
        if kind == "run":
            self._run_job()
        elif kind == "gc":
            self._start("gc", "--keep", str(KEEP), fault=self._fault(COMMAND_FAULTS))
        elif kind == "restart":
            self._start("restart", JOB, fault=self._fault(COMMAND_FAULTS + AGENT_FAULTS))
        else:
            self._start(kind, JOB, fault=None)

    def _all(self):
        ours = processes.started_with("CKPT_DIR", self.lab.environment()["CKPT_DIR"])
        return [*ours, *processes.named(PROGRAM)]

    def _kill_one(self):
        found = self._all()
        if found:
            processes.kill(self.chance.choice(found))
            self.counts["killed"] += 1

    def _kill_all(self):
        deadline = time.monotonic() + PATIENCE
        while found := [pid for pid in self._all() if processes.is_alive(pid)]:
            if time.monotonic() > deadline:
                raise Violation(f"processes do not go away: {found}")
            for pid in found:
                processes.kill(pid)
            for process in self.running:
                process.poll()
            time.sleep(0.01)
        for process in self.running:
            process.wait(PATIENCE)
        self.running = []

    def round(self):
        """Some commands, some of which die; then the state of the directory."""
        copies = Copies()
        copies.start()
        self._run_job()
        for _ in range(self.chance.randint(1, 4)):
            time.sleep(self.chance.uniform(0, 0.4))
            self._act()
            if self.chance.random() < 0.3:
                self._kill_one()
        time.sleep(self.chance.uniform(0, 0.6))
        self._kill_all()
        if copies.end() > 1:
            raise Violation(f"copies of the job: {copies.seen}")
        self.check()

    def _committed(self):
        done = self.lab.ckpt("list", JOB, "--json")
        if done.returncode not in (0, 3):
            raise Violation(f"ckpt list: {done}")
        return {
            entry["number"]
            for entry in json.loads(done.stdout or "[]")
            if entry["state"] == "committed"
        }

    def check(self):
        """What was committed is whole; what is not ours is untouched."""
        numbers = self._committed()
        newest = max(numbers, default=0)
        if newest < self.newest:
            raise Violation(f"checkpoint {self.newest} is lost: {sorted(numbers)}")
        self.newest = newest
        for number in sorted(numbers):
            done = self.lab.ckpt("verify", f"{JOB}/{number}")
            if done.returncode != 0:
                raise Violation(f"{JOB}/{number} is not whole: {done.stdout}{done.stderr}")
        self.counts["verified"] += len(numbers)
        for path, text in self.foreign.items():
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                raise Violation(f"{path} is not as it was")
        if not self.foreign and numbers:
            self._add_foreign(newest)

    def _add_foreign(self, number):
        """Files of the user's in all places, and a link out of the directory."""
        outside = self.lab.directory / "outside"
        (outside / "000001").mkdir(parents=True)
        job = self.lab.store / JOB
        for path in (
            self.lab.store / "notes", job / "results", job / "job.json.old",
            job / f"{number:06}" / "mine", outside / "manifest.json",
            outside / "000001/manifest.json",
        ):  # fmt: skip
            if path.parent.is_dir():
                self.foreign[path] = f"text of {path.name}"
                path.write_text(self.foreign[path], encoding="utf-8")
        (job / "999999").symlink_to(outside)
        (self.lab.store / "elsewhere").symlink_to(outside)


def run_crashes(directory, rounds, chance, is_tiered):
    """The numbers of what was done. Throws Violation."""
    crashes = Crashes(directory, chance, is_tiered)
    try:
        for number in range(rounds):
            try:
                crashes.round()
            except Violation as violation:
                raise Violation(f"round {number + 1}: {violation}") from violation
    finally:
        crashes._kill_all()  # pylint: disable=protected-access
    crashes.counts["newest"] = crashes.newest
    return crashes.counts
