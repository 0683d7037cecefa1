# SPDX-License-Identifier: BSD-3-Clause
"""A frozen copy of a rank comes to life (docs/protocol.md, section 14), at the order of a stand-in
agent (ckpttest/stand_in_agent.py). Each rank is alone in its world here: a world of several needs a
PMIx server."""

import os
import signal

import pytest

from ckpttest import probes, processes, stand_in_agent
from ckpttest.job import Job
from ckpttest.settings import INSTALL, environment

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
        }

    def start(self, name, *arguments, **settings):
        """Starts a probe of one rank; returns when it waits."""
        program = probes.probe(name, self.gate)
        settings = environment(**probes.ENVIRONMENT, **self.settings, **settings)
        self.job = Job([*program.argv, *arguments], self.directory, settings)
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
        answer = stand_in_agent.thaw(self.orders, 0, [*ALONE, *settings])
        assert "error" not in answer, answer
        return answer

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
        """Ends what is left."""
        if self.job is not None:
            for process in {self.process, self.job.pid}:
                processes.kill(process)
            self.job.process.wait()


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
