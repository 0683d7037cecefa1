# SPDX-License-Identifier: BSD-3-Clause
"""Each MPI feature in the middle of a checkpoint: restarted twice in a row, and some also resumed.
With CKPT_TEST_FULL=1 all are resumed, and restarted five times."""

import re

import pytest

from ckpttest import probes, refusals
from ckpttest.settings import FULL

ROUNDS = 5 if FULL else 2


class Gate:
    """A probe that waits in the middle."""

    def __init__(self, lab, name, **settings):
        self.lab = lab
        self.file = lab.directory / "gate"
        self.program = probes.probe(name, self.file)
        self.job = lab.start(
            self.program,
            CKPT_NAME="probe",
            **probes.ENVIRONMENT,
            **settings,
        )
        self.job.wait_for("^READY")
        self.job.wait_for("^waiting")

    def kill_and_restart(self):
        """Kills all ranks and mpirun; restarts the newest checkpoint."""
        self.job.kill()
        self.job = self.lab.restart()
        self.job.wait_for("^waiting")

    def open(self):
        """Lets the probe go on; it must succeed."""
        self.file.touch()
        lines = self.job.succeed()
        assert any(line.startswith("OK ") for line in lines), lines


@pytest.mark.parametrize("name", probes.SAVED if FULL else probes.SAVED[::4])
def test_resume(lab, name):
    gate = Gate(lab, name)
    lab.checkpoint(gate.job)
    gate.open()


@pytest.mark.parametrize("name", probes.SAVED)
def test_restarts_in_a_row(lab, name):
    gate = Gate(lab, name)
    for _ in range(ROUNDS):
        lab.checkpoint(gate.job)
        gate.kill_and_restart()
    gate.open()


@pytest.mark.parametrize("protocol", ["cl", "ns"])
def test_receiver_of_a_synchronous_send_is_cut_first(lab, protocol):
    """The receiver is in the next collective when the sender is cut, with some probability in each
    attempt."""
    settings = {"CKPT_PROTOCOL": protocol, "CKPT_STAGGER": "node"}
    gate = Gate(lab, "synchronous_then_collective", **settings)
    for _ in range(10):
        assert lab.checkpoint(gate.job)["protocol"] == protocol
    gate.kill_and_restart()
    gate.open()


def test_a_restart_waits_for_no_thread(lab):
    """Threads that the restart has yet to make may be inside the program's allocator, here also
    with the memory that independent checkpoints share."""
    gate = Gate(lab, "held_allocator", CKPT_PROTOCOL="independent")
    lab.checkpoint(gate.job)
    gate.kill_and_restart()
    gate.open()


@pytest.mark.parametrize("name", probes.REFUSED)
def test_refused(lab, name):
    """The message names what cannot be saved; the program goes on."""
    gate = Gate(lab, name)
    done = lab.ckpt("checkpoint", "probe")
    assert done.returncode != 0
    identity, detail = probes.REFUSED[name]
    assert refusals.identity(done.stderr) == identity, done.stderr
    assert re.search(detail, done.stderr), done.stderr
    assert lab.ckpt_json("status", gate.job.pid)[0]["refusals"] == {identity: 1}
    gate.open()


def test_spawned_processes_are_no_job(lab):
    """Spawned processes have no agent and no directory."""
    gate = Gate(lab, "spawn")
    assert len(lab.ckpt_json("status", gate.job.pid)) == 1
    gate.open()
    assert [path.name for path in lab.store.iterdir()] == ["probe"]
