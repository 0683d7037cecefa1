# SPDX-License-Identifier: BSD-3-Clause
"""store_crashes.py - commands that work on one directory at once, and are killed at fault points
and at random moments, or whose file calls fail at random.

After each round nothing runs any more. Then every committed checkpoint exists and is whole, or a
later one does. Foreign files are unchanged, and at no time were there two copies of the job. A
command that failed by itself has said why. In a calm round nothing is killed, and a program that
has begun runs to the end of the round.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import threading
import time
from collections import Counter

from . import processes
from .failing import FailingFiles
from .lab import Lab
from .settings import TIMEOUT

JOB = f"job-{os.getpid()}"  # ckpt finds jobs of a name wherever they are
PROGRAM = "ckpt-sleeper"  # a process of this name is a copy of the job
KEEP = 3
CHILD_KILLED = 128 + 9
FOREIGN = 999999  # the checkpoint with this number is a link that the user made

AGENT_FAULTS = [
    "image-during-capture", "image-before-rename", "image-after-rename",
    "text-file-before-rename", "owner-before-rename", "remove-after-manifest",
    "agent-before-manifest", "agent-during-capture", "agent-during-flush",
    "agent-before-slow-manifest", "agent-at-join", "agent-in-align", "agent-in-save",
    "agent-in-write", "agent-in-commit", "agent-in-undo", "image-write-enospc",
    "image-close-enospc", "flush-enospc", "trace-write-enospc",
]  # fmt: skip
COMMAND_FAULTS = ["owner-before-rename", "text-file-before-rename", "remove-after-manifest"]
CRASH = re.compile(r"nobody catches|ckptd: SIG|terminate called|Segmentation|Assertion")
MESSAGE = re.compile(r"^ckpt(-restart|d)?: \S", re.MULTILINE)


class Violation(AssertionError):
    """A violated invariant of the store."""


def copies_in(work):
    """Returns the process ids of the job's copies that run in a directory."""
    found = []
    for pid in processes.named(PROGRAM):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if os.path.samefile(f"/proc/{pid}/cwd", work):
                found.append(pid)
    return found


class Copies(threading.Thread):
    """Counts all the time how many copies of the job are alive."""

    def __init__(self, work):
        super().__init__(daemon=True)
        self._work = work
        self._over = threading.Event()
        self.most = 0
        self.seen = []
        self.first = None

    def _alive(self):
        return [pid for pid in copies_in(self._work) if processes.is_alive(pid)]

    def run(self):
        while not self._over.wait(0.02):
            found = self._alive()
            self.first = self.first or (found[0] if found else None)
            if len(found) > 1:  # a dying process does not count as a copy
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
        """Ends the counting; returns the largest number of copies."""
        self._over.set()
        self.join()
        return self.most


class Started:
    """A command and its output."""

    def __init__(self, process, words, fault, said):
        self.process = process
        self.words = words
        self.fault = fault
        self.said = said

    def text(self, ending):
        """Returns its output so far; ending: "out" or "err"."""
        return self.said.with_suffix(f".{ending}").read_text("utf-8", errors="replace")

    def is_done(self):
        """Whether the command ended by itself and succeeded."""
        return self.process.returncode == 0

    def problem(self, killed):
        """Returns the error of a command that ended by itself; killed: the killed commands."""
        code = self.process.returncode
        said = self.text("out") + self.text("err")
        was_killed = self.process.pid in killed or self.fault
        if CRASH.search(said) or (code < 0 and not was_killed):
            return f"{self.process.pid} {self.words} ended with {code}: {said}"
        if code > 0 and not MESSAGE.search(said) and not (killed and code == CHILD_KILLED):
            return f"{self.process.pid} {self.words} ended with {code} and did not say why: {said}"
        return None


class Crashes:
    """One directory and its rounds. rate: at most this many of 10000 calls on its files fail."""

    def __init__(self, directory, chance, is_tiered, rate):
        self.lab = Lab(directory)
        self.chance = chance
        self.counts = Counter()
        self.program = self.lab.work / PROGRAM
        shutil.copy("/usr/bin/sleep", self.program)
        self.lab.settings |= {
            "CKPT_SNAPSHOT": "stop", "CKPT_KEEP": str(KEEP),
            "CKPT_TIMEOUT": "10s", "TMPDIR": str(self.lab.directory),
        }  # fmt: skip
        self.foreign = {}
        stores = [self.lab.store]
        if is_tiered:
            stores.append(self.lab.directory / "slow")
            self.lab.settings["CKPT_DIR"] = ",".join(map(str, stores))
        self.rate = rate
        self.failing = FailingFiles(self.lab.directory / "failing", stores) if rate else None
        self.newest = 0
        self.announced = 0
        self.running = []
        self.started = 0
        self.killed = set()
        self.is_calm = False

    def _with_failures(self, command):
        """Returns the command and its environment, with failing calls or without."""
        if not self.rate or self.chance.random() < 0.2:
            return command, {}
        rate = max(1, int(self.rate * self.chance.choice([0.1, 0.3, 1])))
        settings = self.failing.settings(self.chance.randrange(10**9), rate)
        return self.failing.wrap(command), settings

    def _start(self, *words, fault=None):
        more = {"CKPT_FILES": self.chance.choice(["ignore", "rollback"])}
        more |= {"CKPT_FAULT": fault} if fault else {}
        command, failures = self._with_failures([self.lab.ckpt_program, *words])
        self.started += 1
        said = self.lab.directory / "said" / str(self.started)  # a restarted program also has it
        said.parent.mkdir(exist_ok=True)
        with (
            said.with_suffix(".out").open("wb") as out,
            said.with_suffix(".err").open("wb") as err,
        ):
            process = subprocess.Popen(
                command, cwd=self.lab.work, env=self.lab.environment(**more, **failures),
                start_new_session=True, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            )  # fmt: skip
        self.running.append(Started(process, words, fault, said))
        self.counts[words[0]] += 1

    def _fault(self, names):
        if self.is_calm or self.chance.random() < 0.4:
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
        elif kind == "checkpoint":
            self._start("checkpoint", JOB, "--json")
        else:
            self._start(kind, JOB)

    def _all(self):
        ours = processes.started_with("CKPT_DIR", self.lab.environment()["CKPT_DIR"])
        return [*ours, *copies_in(self.lab.work)]

    def _kill_one(self):
        found = self._all()
        if found:
            pid = self.chance.choice(found)
            processes.kill(pid)
            self.killed.add(pid)
            self.counts["killed"] += 1

    def _look_at_ended(self):
        """Checks the commands that ended by themselves, and what they announced."""
        for started in self.running:
            if started.process.poll() is None:
                continue
            if problem := started.problem(self.killed):
                raise Violation(problem)
            self.counts["ended well" if started.is_done() else "ended with an error"] += 1
            if started.words[0] == "checkpoint" and started.is_done():
                number = int(json.loads(started.text("out"))["name"].split("/")[1])
                self.announced = max(self.announced, number)

    def _look_at_program(self, pid):
        """In a calm round, the program must run."""
        if self.is_calm and pid is not None and not processes.is_alive(pid):
            said = [(one.words, one.text("out") + one.text("err")) for one in self.running]
            raise Violation(f"the program {pid} has ended: {said}")
        self.counts["calm rounds with the program"] += self.is_calm and pid is not None

    def _look_at_logs(self):
        """Checks the logs of agents and restart programs, which print nothing."""
        for path in [*self.lab.directory.glob("*/*/*.log")]:
            if CRASH.search(path.read_text(encoding="utf-8", errors="replace")):
                raise Violation(f"{path} tells of a crash")

    def _kill_all(self):
        deadline = time.monotonic() + TIMEOUT
        while found := [pid for pid in self._all() if processes.is_alive(pid)]:
            if time.monotonic() > deadline:
                raise Violation(f"processes do not go away: {found}")
            for pid in found:
                processes.kill(pid)
            for started in self.running:
                started.process.poll()
            time.sleep(0.01)
        for started in self.running:
            started.process.wait(TIMEOUT)
        self.running = []
        self.killed = set()

    def round(self):
        """Runs some commands, some of which die or fail; then checks the directory."""
        copies = Copies(self.lab.work)
        self.is_calm = self.rate > 0 and self.chance.random() < 0.3
        copies.start()
        self._run_job()
        for _ in range(self.chance.randint(1, 4)):
            time.sleep(self.chance.uniform(0, 0.4))
            self._act()
            if not self.is_calm and self.chance.random() < 0.3:
                self._kill_one()
        time.sleep(self.chance.uniform(0, 0.6))
        self._look_at_ended()
        self._look_at_program(copies.first)
        self._kill_all()
        if copies.end() > 1:
            raise Violation(f"copies of the job: {copies.seen}")
        self._look_at_logs()
        self.check()

    def _committed(self):
        done = self.lab.ckpt("list", JOB, "--json")
        if done.returncode not in (0, 3):
            raise Violation(f"ckpt list: {done}")
        entries = json.loads(done.stdout or "[]")
        for entry in entries:
            is_ours = entry["number"] != FOREIGN
            if is_ours and entry["state"] not in ("committed", "incomplete"):
                raise Violation(f"{entry}")
        return {entry["number"] for entry in entries if entry["state"] == "committed"}

    def check(self):
        """Checks that committed checkpoints are whole and foreign files untouched."""
        numbers = self._committed()
        newest = max(numbers, default=0)
        if newest < max(self.newest, self.announced):
            raise Violation(
                f"checkpoint {max(self.newest, self.announced)} is lost: {sorted(numbers)}"
            )
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
        """Makes files of the user in all places, and a link out of the directory."""
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
        (job / str(FOREIGN)).symlink_to(outside)
        (self.lab.store / "elsewhere").symlink_to(outside)


def run_crashes(directory, rounds, chance, is_tiered=False, rate=0):
    """Runs the rounds; returns the counts. rate: at most this many of 10000 calls on files of the
    directory fail. Raises Violation."""
    crashes = Crashes(directory, chance, is_tiered, rate)
    try:
        for number in range(rounds):
            try:
                crashes.round()
            except Violation as violation:
                raise Violation(f"round {number + 1}: {violation}") from violation
    finally:
        crashes._kill_all()  # pylint: disable=protected-access
    crashes.counts["newest"] = crashes.newest
    crashes.counts["failed calls"] = crashes.failing.count() if rate else 0
    return crashes.counts
