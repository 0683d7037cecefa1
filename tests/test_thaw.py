# SPDX-License-Identifier: BSD-3-Clause
"""A frozen copy of a rank comes to life (docs/protocol.md, section 14), at the order of a stand-in
agent (ckpttest/stand_in_agent.py). Most ranks are alone in their world here: a world of several
needs a PMIx server (ckpttest/world_server.py)."""

import contextlib
import os
import re
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from ckpttest import probes, processes, stand_in_agent
from ckpttest.job import Job
from ckpttest.settings import INSTALL, environment
from ckpttest.world_server import WorldServer

LIBRARIES = INSTALL / "lib/ckpt"
# No launcher: the library begins a world of one rank, without a daemon.
ALONE = ["OMPI_MCA_ess_singleton_isolated=1"]


class Place:
    """A directory with a rank whose agent is the stand-in."""

    def __init__(self, directory):
        self.directory = directory
        self.gate = directory / "gate"
        self.orders = directory / "orders"
        self.job = None
        self.process = None  # id of the rank's process
        libraries = stand_in_agent.install(directory / "lib", LIBRARIES)
        (directory / "run").mkdir(mode=0o700)
        self.settings = {
            "CKPT_LIBDIR": libraries,
            "CKPT_RUN_DIR": directory / "run",
            "CKPT_STAND_IN": self.orders,
            "CKPT_DIR": directory / "checkpoints",
            "LD_PRELOAD": LIBRARIES / "libckpt-mpi.so",
            "OMPI_MCA_ess_singleton_isolated": 1,
            "OMPI_MCA_btl": "self",  # vader would leave files of killed ranks
        }

    def start(self, name, *arguments, stdin=subprocess.DEVNULL):
        """Starts a probe of one rank; returns when it waits."""
        program = probes.probe(name, self.gate)
        settings = environment(**probes.ENVIRONMENT, **self.settings)
        self.job = Job([*program.argv, *arguments], self.directory, settings, stdin=stdin)
        self.process = self.job.pid
        self.job.wait_for("^READY")
        self.job.wait_for("^waiting")

    def freeze(self):
        """Makes a copy, and returns its process id when the rank has run on."""
        answer = stand_in_agent.freeze(self.orders)
        assert "error" not in answer and not answer["refused"], answer
        self.job.wait_for("^waiting")
        return answer["copies"]["0"]

    def die(self):
        """Kills the rank's process."""
        os.kill(self.process, signal.SIGKILL)
        if self.process == self.job.pid:
            self.job.process.wait()
        assert processes.wait_until_gone([self.process], 60)

    def thaw(self, *settings):
        """Orders the copy to live; returns the agent's answer."""
        answer = stand_in_agent.thaw(self.orders, [[*ALONE, *settings]])
        assert "error" not in answer, answer
        return {"ms": answer["ms"], **answer["ranks"][0]}

    def refuse(self, pattern):
        """The copy must refuse to live, and is as before: it can be asked again."""
        for _ in range(2):
            answer = self.thaw()
            assert answer["code"] == 1 and re.search(pattern, answer["refused"]), answer

    def roll_back(self):
        """The rank dies, and its copy lives in its place. Returns the milliseconds."""
        copy = self.freeze()
        self.die()
        answer = self.thaw()
        assert answer["code"] == 0 and answer["refused"] == "", answer
        self.process = copy
        self.job.wait_for("^waiting")
        return answer["ms"]

    def finish(self):
        """Lets the program end, and checks that it is content."""
        self.gate.touch()
        self.job.wait_for("^OK ")
        assert processes.wait_until_gone([self.process], 60)
        assert not any("ckpt: " in line for line in self.job.lines), self.job.lines

    def close(self):
        """Ends all processes."""
        with contextlib.suppress(OSError):  # the agent has ended
            stand_in_agent.forget(self.orders)
        if self.job is not None:
            for process in {self.process, self.job.pid}:
                processes.kill(process)
            self.job.process.wait()


class Pair(Place):
    """The same for two ranks, with a server of worlds."""

    def __init__(self, directory):
        super().__init__(directory)
        (directory / "worlds").mkdir(mode=0o700)
        self.server = WorldServer(directory / "worlds")
        self.world = 0
        self.processes = []
        del self.settings["OMPI_MCA_ess_singleton_isolated"]
        self.settings["OMPI_MCA_btl"] = "self,tcp"

    def next_world(self):
        """Returns the variables of the two ranks in another world."""
        self.world += 1
        return self.server.register(f"ckpt-thaw-{self.server.process.pid}.{self.world}", 2)

    def start(self, name):
        """The ranks have one output, which is the agent's and that of the copies, too."""
        program = [str(word) for word in probes.probe(name, self.gate).argv]
        preload = f"LD_PRELOAD={self.settings.pop('LD_PRELOAD')}"
        ranks = [shlex.join(["env", preload, *v, *program]) for v in self.next_world()]
        settings = environment(**probes.ENVIRONMENT, **self.settings)
        command = ["sh", "-c", " & ".join(ranks) + " & wait"]
        self.job = Job(command, self.directory, settings)
        self.job.wait_for("^READY")
        self.processes = self.job.ranks()
        assert len(self.processes) == 2
        self.job.wait_for("^waiting")

    def roll_back(self):
        answer = stand_in_agent.freeze(self.orders)
        assert "error" not in answer and not answer["refused"], answer
        self.job.wait_for("^waiting")
        for process in self.processes:
            processes.kill(process)
        assert processes.wait_until_gone(self.processes, 60)
        self.job.process.wait()
        self.processes = [answer["copies"][number] for number in ("0", "1")]
        answer = stand_in_agent.thaw(self.orders, self.next_world())
        assert "error" not in answer, answer
        assert answer["ranks"] == 2 * [{"code": 0, "refused": ""}]
        self.job.wait_for("^waiting")

    def finish(self):
        self.gate.touch()
        self.job.wait_for("^OK ")
        assert processes.wait_until_gone(self.processes, 60)

    def close(self):
        with contextlib.suppress(OSError):  # the agent has ended
            stand_in_agent.forget(self.orders)
        for process in self.processes:
            processes.kill(process)
        if self.job is not None:
            processes.kill(self.job.pid)
            self.job.process.wait()
        self.server.close()


@pytest.fixture
def pair(tmp_path):
    made = Pair(tmp_path)
    yield made
    made.close()


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path)
    yield made
    made.close()


def test_all_that_a_process_has_comes_back(place):
    place.start("own_resources")
    for _ in range(4):
        place.roll_back()
    place.finish()


def test_threads_in_mpi(place):
    place.start("own_resources", "1", "multiple")
    for _ in range(2):
        place.roll_back()
    place.finish()


def test_much_memory(place):
    """Its copy is the memory: how much there is does not matter."""
    place.start("own_resources", "500")
    took = place.roll_back()
    place.finish()
    print(f"{took:.0f} ms from the order to the agent's WELCOME")


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("shared", r"memory .* \(.*\) is not as it was: the copy shares it"),
        ("signals", r"descriptor \d+ .* watches a signalfd, descriptor \d+"),
        ("mapped", r"own_resources.txt\) is not as it was: its file has changed"),
    ],
)
def test_what_cannot_come_back_is_refused(place, what, pattern):
    place.start("own_resources", "1", what)
    copy = place.freeze()
    place.refuse(pattern)
    assert processes.name_of(copy) == "ckpt-copy"
    place.finish()


def test_window_is_refused(place):
    """Its memory is shared with the lower half."""
    place.start("alone")
    place.freeze()
    place.refuse("memory .* is not as it was: the copy shares it")
    place.finish()


def test_input_that_goes_on_is_refused(place):
    """The program may have read from it since."""
    reader, writer = os.pipe()
    place.start("own_resources", stdin=reader)
    place.freeze()
    place.refuse("the standard input, which has not ended")
    os.close(writer)
    os.close(reader)
    place.finish()


def test_copy_without_all_its_memory_is_refused(place):
    place.start("own_resources")
    copy = place.freeze()
    (heap,) = (
        line.split()[0].split("-")
        for line in Path(f"/proc/{copy}/maps").read_text(encoding="utf-8").splitlines()
        if line.endswith("[heap]")
    )
    stand_in_agent.release(place.orders, 0, *(int(end, 16) for end in heap))
    place.refuse("has released memory")
    place.finish()


def test_copy_that_has_ended_is_reported(place):
    place.start("own_resources")
    copy = place.freeze()
    processes.kill(copy)
    assert processes.wait_until_gone([copy], 60)
    place.refuse(f"{copy}.*(gone|ended)|may not read|No such process")
    place.finish()


def test_copy_can_be_asked_again(place):
    """A file is missing at first."""
    place.start("own_resources")
    copy = place.freeze()
    place.die()
    (place.directory / "own_resources.txt").rename(place.directory / "elsewhere")
    place.refuse("own_resources.txt")
    assert processes.name_of(copy) == "ckpt-copy"
    (place.directory / "elsewhere").rename(place.directory / "own_resources.txt")
    answer = place.thaw()
    assert answer["code"] == 0, answer
    assert processes.name_of(copy) == "own-name"
    place.process = copy
    place.finish()


@pytest.mark.parametrize("name", ["blocked_recv", "persistent", "pending_ibcast", "threads_joined"])
def test_two_ranks_come_back_in_other_worlds(pair, name):
    pair.start(name)
    for _ in range(3):
        pair.roll_back()
    pair.finish()
