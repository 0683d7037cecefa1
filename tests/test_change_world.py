# SPDX-License-Identifier: BSD-3-Clause
"""A living rank changes worlds: it throws its MPI library away and loads another one, at the order
of a stand-in agent (ckpttest/stand_in_agent.py). Each rank is alone in its world here: a world of
several needs a PMIx server."""

import os
from pathlib import Path

import pytest

from ckpttest import probes, stand_in_agent
from ckpttest.job import Job
from ckpttest.settings import INSTALL, MPIRUN, environment

LIBRARIES = INSTALL / "lib/ckpt"
# No launcher: the library begins a world of one rank, without a daemon.
ALONE = ["OMPI_MCA_ess_singleton_isolated=1"]
# With the daemon that Open MPI 4.1 otherwise starts.
WITH_DAEMON = ["CKPT_TEST_WORLD=1"]

class Place:
    """A directory with a job whose agent is the stand-in."""

    def __init__(self, directory):
        self.directory = directory
        self.gate = directory / "gate"
        self.orders = directory / "orders"
        self.job = None
        libraries = stand_in_agent.install(directory / "lib", LIBRARIES)
        (directory / "run").mkdir(mode=0o700)
        self.settings = {
            "CKPT_LIBDIR": libraries,
            "CKPT_RUN_DIR": directory / "run",
            "CKPT_STAND_IN": self.orders,
            "CKPT_DIR": directory / "checkpoints",
            "OMPI_MCA_orte_enable_recovery": 1,  # it no longer sees MPI_Finalize
        }

    def start(self):
        """Starts the probe of one rank; returns when it waits."""
        program = probes.probe("alone", self.gate)
        command = [MPIRUN, "-np", "1", "-x", f"LD_PRELOAD={LIBRARIES / 'libckpt-mpi.so'}"]
        settings = environment(**probes.ENVIRONMENT, **self.settings)
        self.job = Job([*command, *program.argv], self.directory, settings)
        self.job.wait_for("^READY")
        self.job.wait_for("^waiting")

    def change(self, settings):
        """Orders a change of worlds; returns the refusal, or None."""
        answer = stand_in_agent.change_worlds(self.orders, [settings])
        assert "error" not in answer, answer
        assert bool(answer["ready"]) != bool(answer["refused"]), answer
        return answer["refused"].get("0")

    def finish(self):
        """Lets the program end, and checks that it is content."""
        self.gate.touch()
        lines = self.job.succeed()
        assert any(line.startswith("OK ") for line in lines), lines


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path)
    yield made
    if made.job is not None:
        made.job.kill()


def process_of(place):
    """The rank's process: the child of the launcher that has the stand-in's directory."""
    (rank,) = place.job.ranks()
    return Path("/proc") / str(rank)


def extent(process):
    """What must not grow: mappings, threads, descriptors."""
    return (
        (process / "maps").read_text(encoding="utf-8").count("\n"),
        len(os.listdir(process / "task")),
        len(os.listdir(process / "fd")),
    )


def test_program_goes_on_in_other_worlds(place):
    place.start()
    for _ in range(3):
        assert place.change(ALONE) is None
    place.finish()


def test_nothing_grows(place):
    """The library's own mappings differ by a few from time to time."""
    place.start()
    process = process_of(place)
    seen = []
    for _ in range(24):
        assert place.change(ALONE) is None
        seen.append(extent(process))
    mappings, threads, descriptors = zip(*seen, strict=True)
    # The library may just be using one more.
    assert min(mappings[-4:]) < max(mappings[:4]) + 10, mappings
    assert min(threads[-4:]) <= max(threads[:4]), threads
    assert min(descriptors[-4:]) <= max(descriptors[:4]), descriptors
    place.finish()


def test_rank_stays_in_its_world_if_it_must(place):
    """The library's daemon is a child of the rank: it would be taken for the program's."""
    place.start()
    assert "no environment" in place.change([])
    assert "not a list" in place.change(["=value"])
    assert place.change(WITH_DAEMON) is None
    assert "child process" in place.change(ALONE)
    place.finish()


def test_rank_without_a_world_ends_with_a_message(place):
    """The old library is gone when it turns out that there is no other one."""
    place.start()
    answer = stand_in_agent.change_worlds(place.orders, [["CKPT_LIBMPI=/nowhere/libmpi.so.40"]])
    assert answer["error"] == "gone: [0]"
    place.job.wait_for("ckpt: the rank has left its MPI library and cannot load another one")
