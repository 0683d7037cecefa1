# SPDX-License-Identifier: BSD-3-Clause
"""job.py - a running mpirun whose output is followed line by line."""

import glob
import re
import subprocess
import threading
import time
from pathlib import Path

from . import processes
from .settings import TIMEOUT


class JobError(AssertionError):
    """The job failed a test's expectation; carries the last output."""

    def __init__(self, job, text):
        tail = "\n".join(f"    | {line}" for line in job.lines[-25:])
        super().__init__(f"{text}\n    $ {' '.join(job.command)}\n{tail}")


class Job:
    """Starts a command; a thread collects its standard output and error."""

    def __init__(self, command, directory, environment, stdin=subprocess.DEVNULL, holds=()):
        """holds: files that are removed when the program may end."""
        self.command = [str(word) for word in command]
        self._holds = holds
        self.lines = []
        self.times = []  # monotonic seconds, one for each line
        self.started = time.monotonic()
        self._next = 0  # first line not looked at by wait_for()
        self._ended = False  # no more output
        self._news = threading.Condition()
        self.process = subprocess.Popen(
            self.command,
            cwd=directory,
            env=environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self):
        """Process id of mpirun (`ckpt restart` becomes mpirun)."""
        return self.process.pid

    def _read(self):
        for line in self.process.stdout:
            with self._news:
                self.lines.append(line.rstrip("\n"))
                self.times.append(time.monotonic())
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def wait_for(self, pattern, timeout=TIMEOUT, count=1):
        """Waits for the count-th next line that matches the pattern; returns the match."""
        regex = re.compile(pattern)
        deadline = time.monotonic() + timeout
        with self._news:
            while True:
                while self._next < len(self.lines):
                    match = regex.search(self.lines[self._next])
                    self._next += 1
                    if match:
                        count -= 1
                        if count == 0:
                            return match
                if self._ended:
                    raise JobError(self, f"ended without '{pattern}'")
                left = deadline - time.monotonic()
                if left <= 0:
                    raise JobError(self, f"no '{pattern}' in {timeout:g} s")
                self._news.wait(left)

    def run_on(self, seconds):
        """Lets the job run for a time. Returns False if the job ended before."""
        with self._news:
            return not self._news.wait_for(lambda: self._ended, seconds)

    def let_end(self):
        """Lets the programs of this lab end."""
        for path in self._holds:
            path.unlink(missing_ok=True)

    def finish(self, timeout=TIMEOUT):
        """Waits for the end; returns the exit code (negative: killed by a signal)."""
        self.let_end()
        with self._news:
            if not self._news.wait_for(lambda: self._ended, timeout):
                raise JobError(self, f"still running after {timeout:g} s")
        self._reader.join()
        return self.process.wait(timeout)

    def succeed(self, timeout=TIMEOUT, unsound=False):
        """Waits for the end, which must be a success; returns all lines. Unless `unsound`, no
        process may have found a false invariant."""
        code = self.finish(timeout)
        if code != 0:
            raise JobError(self, f"ended with code {code}")
        if not unsound and any("ckpt: internal error" in line for line in self.lines):
            raise JobError(self, "a process is unsound")
        return self.lines

    def ranks(self):
        """Returns the process ids of the running ranks."""
        return processes.ranks_of(self.pid)

    def kill(self):
        """SIGKILL to every rank and to mpirun; returns when all are gone."""
        if self.process.poll() is not None:
            return
        ranks = self.ranks()
        shared = set().union(*(processes.shared_memory_of(p) for p in ranks))
        for pid in [*ranks, self.pid]:
            processes.kill(pid)
        self.process.wait(TIMEOUT)
        if not processes.wait_until_gone(ranks, TIMEOUT):
            raise JobError(self, "a killed rank does not go away")
        self._reader.join(TIMEOUT)
        self._remove_leftovers(shared)

    def _remove_leftovers(self, shared):
        """Removes what a killed Open MPI leaves behind."""
        for path in shared:
            Path(path).unlink(missing_ok=True)
        for directory in glob.glob(f"/tmp/ompi.*/pid.{self.pid}"):
            subprocess.run(["rm", "-rf", directory], check=True)
