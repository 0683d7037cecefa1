# SPDX-License-Identifier: BSD-3-Clause
"""ctrl-Z, `fg` and ctrl-C in a shell, and the end of a terminal, have the same effect with `ckpt
run` as without it. A requested end of the job is not reported as a failure."""

import os
import pty
import re
import select
import shlex
import signal
import sys
import threading
import time

import pytest

from ckpttest import non_mpi, processes, programs
from ckpttest.lab import POLL
from ckpttest.settings import TIMEOUT

CTRL_C, CTRL_Z = b"\x03", b"\x1a"
INTERRUPTED = 128 + signal.SIGINT

TICKS = "import time\nwhile True:\n    print('tick', flush=True)\n    time.sleep(0.02)\n"
DEAF = "import signal\nsignal.signal(signal.SIGTSTP, signal.SIG_IGN)\n" + TICKS
STOPS = (
    "import os, signal\nprint('tick', flush=True)\nos.kill(os.getpid(), signal.SIGTSTP)\n" + TICKS
)


SHELL = ["bash", "--norc", "--noprofile", "-i"]


class Shell:
    """An interactive shell, or another command, on its own terminal."""

    def __init__(self, lab, command=SHELL):
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.chdir(lab.work)
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)  # nohup or `&` may have started the tests
            env = {name: str(value) for name, value in lab.environment(PS1="$ ").items()}
            os.execvpe(command[0], command, env)
        self._text, self._position = "", 0
        self._news = threading.Condition()
        self._is_read = True
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        while self._is_read:
            if not select.select([self._terminal], [], [], POLL)[0]:
                continue
            try:
                data = os.read(self._terminal, 4096)
            except OSError:
                return  # the shell has ended
            with self._news:
                self._text += data.decode(errors="replace")
                self._news.notify_all()

    def type(self, keys):
        os.write(self._terminal, keys if isinstance(keys, bytes) else keys.encode() + b"\n")

    def wait_for(self, pattern, count=1):
        """Waits for the count-th next text that matches; returns the match."""
        deadline = time.monotonic() + TIMEOUT
        with self._news:
            while True:
                match = re.compile(pattern).search(self._text, self._position)
                if match:
                    self._position = match.end()
                    count -= 1
                    if count == 0:
                        return match
                elif not self._news.wait(max(0, deadline - time.monotonic())):
                    raise AssertionError(f"no {pattern}: {self._text[-2000:]}")

    def code(self):
        """Returns the exit code of the last command."""
        self.type("echo code=$?")
        return int(self.wait_for(r"code=(\d+)")[1])

    def text(self):
        with self._news:
            return self._text

    def hang_up(self):
        """Closes the terminal."""
        self._is_read = False
        self._reader.join()
        os.close(self._terminal)
        self._terminal = None

    def close(self):
        for pid in processes.descendants(self.pid):
            processes.kill(pid)
        processes.kill(self.pid)
        os.waitpid(self.pid, 0)
        if self._terminal is not None:
            self.hang_up()


@pytest.fixture(name="shell")
def shell_on_a_terminal(lab):
    opened = Shell(lab)
    yield opened
    opened.close()


def run_of(shell):
    """Returns the process id of `ckpt run`."""
    (pid,) = (p for p in processes.descendants(shell.pid) if processes.name_of(p) == "ckpt")
    return pid


def wait_until(condition):
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, "it does not come true"
        time.sleep(POLL)


def run_words(lab, *command):
    """Returns the command line of `ckpt run` for a command."""
    words = [lab.ckpt_program, "run", "--name", non_mpi.name(lab), "--", *command]
    return [str(word) for word in words]


def start(lab, shell, *command):
    """Starts a command under `ckpt run`; returns when an agent serves all ranks."""
    shell.type(shlex.join(run_words(lab, *command)))
    wait_until(lambda: non_mpi.status(lab))


def state_of(lab):
    """Returns what `ckpt status` says about the ended job."""
    lines = lab.ckpt("status").stdout.splitlines()
    return next(line for line in lines if non_mpi.name(lab) in line)


def test_stop_continue_interrupt(lab, shell):
    """The shell shows its prompt while the job stands still; then the job goes on."""
    start(lab, shell, sys.executable, "-c", TICKS)
    assert lab.ckpt("checkpoint", non_mpi.name(lab)).returncode == 0
    shell.wait_for("tick")
    shell.type(CTRL_Z)
    shell.wait_for("Stopped")
    assert processes.is_stopped(run_of(shell))
    shell.type("fg")
    shell.wait_for("ckpt run")
    wait_until(lambda: not processes.is_stopped(run_of(shell)))
    shell.wait_for("tick", count=20)
    interrupt(lab, shell)


def interrupt(lab, shell):
    """The job ends once, is not restarted, and no message calls that a failure."""
    shell.type(CTRL_C)
    shell.wait_for(r"\$ ")
    assert shell.code() in (INTERRUPTED, 1)  # mpirun's is 1
    assert "; restart " not in shell.text()
    assert " was killed by " not in shell.text()
    wait_until(lambda: "interrupted" in state_of(lab))


def test_a_launcher_that_does_not_stop(lab, shell):
    """mpirun of Open MPI 4 stops its ranks, but not itself. `ckpt run` does the same."""
    program = programs.memory(1, 10**7, pause_us=10000)
    program.prepare(lab.work)
    start(lab, shell, *lab.mpirun_command(program))
    assert lab.ckpt("checkpoint", non_mpi.name(lab)).returncode == 0
    ranks = [rank["pid"] for rank in non_mpi.status(lab)["ranks"]]
    shell.type(CTRL_Z)
    for rank in ranks:
        wait_until(lambda rank=rank: processes.is_stopped(rank))
    assert not processes.is_stopped(run_of(shell))
    processes.send(run_of(shell), signal.SIGCONT)
    shell.wait_for("Forwarding signal 18")
    for rank in ranks:
        wait_until(lambda rank=rank: not processes.is_stopped(rank))
    interrupt(lab, shell)


def test_a_program_that_does_not_stop(lab, shell):
    """`ckpt run` does not stop either."""
    start(lab, shell, sys.executable, "-c", DEAF)
    shell.wait_for(r"\ntick")  # printed by the program, not the shell's echo
    shell.type(CTRL_Z)
    shell.wait_for(r"\^Z")
    shell.wait_for("tick", count=20)
    assert not processes.is_stopped(run_of(shell))
    shell.type(CTRL_C)
    shell.wait_for(r"\$ ")
    assert shell.code() == INTERRUPTED


def test_a_program_that_stops_itself(lab, shell):
    """The parent of `ckpt run` learns of the stop, as it would of the program's."""
    start(lab, shell, sys.executable, "-c", STOPS)
    shell.wait_for("Stopped")
    shell.type("fg")
    shell.wait_for(r"\ntick", count=3)  # not in the command, which the shell prints before
    shell.type(CTRL_C)
    shell.wait_for(r"\$ ")
    assert shell.code() == INTERRUPTED


def test_stop_between_launches(lab, shell):
    """The stop comes while `ckpt run` waits before the next launch: `fg` does not end that wait."""
    crash = f"import os, time\ntime.sleep(1)\nos.kill(os.getpid(), {int(signal.SIGKILL)})\n"
    words = [lab.ckpt_program, "run", "--name", non_mpi.name(lab), "--back-off", "5s"]
    shell.type(shlex.join(map(str, [*words, "--", sys.executable, "-c", crash])))
    shell.wait_for("restart 2 of")
    shell.type(CTRL_Z)
    shell.wait_for("Stopped")
    shell.type("fg")
    shell.wait_for("ended with code|restart 3 of")
    assert "fails again and again" in shell.text() or "restart 3 of" in shell.text()
    shell.type(CTRL_C)


@pytest.fixture(name="on_terminal")
def commands_on_terminals(lab):
    """Yields a function that opens a terminal for `ckpt run` of an MPI program, and waits until the
    program can be saved."""
    opened = []

    def open_for(*before):
        program = programs.memory(1, 10**7, pause_us=10000)
        program.prepare(lab.work)
        shell = Shell(lab, [*before, *run_words(lab, *lab.mpirun_command(program))])
        opened.append(shell)
        wait_until(lambda: non_mpi.status(lab))
        return shell

    yield open_for
    for shell in opened:
        shell.close()


def ranks_of(lab):
    return [rank["pid"] for rank in non_mpi.status(lab)["ranks"]]


def test_the_terminal_goes_away(lab, on_terminal):
    """The kernel sends SIGHUP only to the session leader. The job ends, as without `ckpt run`."""
    shell = on_terminal()
    ranks = ranks_of(lab)
    shell.hang_up()
    assert processes.wait_until_gone(ranks, TIMEOUT)
    wait_until(lambda: "interrupted" in state_of(lab))
    assert "; restart " not in shell.text()


def test_the_terminal_goes_away_without_hangup(lab, on_terminal):
    """With nohup, the job goes on."""
    shell = on_terminal("nohup")
    ranks = ranks_of(lab)
    shell.hang_up()
    assert lab.ckpt("checkpoint", non_mpi.name(lab)).returncode == 0
    assert ranks_of(lab) == ranks
    processes.send(shell.pid, signal.SIGHUP)
    assert lab.ckpt("checkpoint", non_mpi.name(lab)).returncode == 0
    assert ranks_of(lab) == ranks


def test_an_end_that_was_asked_for(lab):
    """A batch system, for example, sends SIGTERM. This does not count as a failure, also not in the
    metrics."""
    metrics = lab.directory / "metrics"
    job = non_mpi.start(lab, "sleep", "1000", options=("--metrics", metrics))
    non_mpi.process_of(lab, job)
    non_mpi.save(lab)
    processes.send(job.pid, signal.SIGTERM)
    assert job.finish() == 128 + signal.SIGTERM
    wait_until(lambda: "interrupted" in state_of(lab))
    wait_until(lambda: 'state="interrupted"} 1' in metrics.read_text(encoding="utf-8"))
    assert not [line for line in job.lines if "killed" in line or "failed" in line]
    again = non_mpi.start(lab, "sleep", "1000", options=("--resume",))
    assert non_mpi.wait_until(again, lambda: non_mpi.status(lab))["failures"] == 0
