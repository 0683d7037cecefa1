# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI 5.0 (the PyPI wheel): the same programs, and functions of MPI 4.0.
Restarts across releases are in test_other_mpi.py."""

import pytest

from ckpttest import probes, programs
from ckpttest.mpis import OPENMPI5

pytestmark = pytest.mark.skipif(
    not OPENMPI5.installed, reason="no Open MPI 5.0 (see setup)"
)


@pytest.mark.parametrize(
    "program",
    [programs.ring(40000), programs.traffic(2000), programs.threads(400)],
    ids=lambda p: p.name,
)
def test_restart(lab5, native, program):
    first = lab5.start(program)
    first.wait_for(program.progress, count=3)
    lab5.checkpoint(first)
    first.kill()
    second = lab5.restart()
    second.succeed()
    assert lab5.answer(program, first, second) == native(program).answer


@pytest.fixture
def gate(tmp_path):
    return tmp_path / "gate"


@pytest.mark.waiting
@pytest.mark.parametrize("name", sorted(set(probes.MPI4) - set(probes.NOT_NATIVE)))
def test_native_probe(lab5, gate, name):
    """The probes of MPI 4.0 pass without ckpt."""
    gate.touch()
    lab5.start_native(probes.probe(name, gate)).succeed()


def start_probe(lab, name, gate, **settings):
    job = lab.start(probes.probe(name, gate), **settings)
    job.wait_for("^waiting")
    return job


def finish_probe(job, gate):
    gate.touch()
    lines = job.succeed()
    assert any(line.startswith("OK ") for line in lines), lines


@pytest.mark.waiting
@pytest.mark.parametrize("name", probes.MPI4)
def test_resumed_probe(lab5, gate, name):
    job = start_probe(lab5, name, gate)
    lab5.checkpoint(job)
    finish_probe(job, gate)


@pytest.mark.waiting
@pytest.mark.parametrize("name", probes.MPI4)
def test_moving_probe(lab5, gate, name):
    """No rank stands still; the second checkpoint begins in the other colour."""
    job = start_probe(lab5, name, gate, CKPT_PROTOCOL="cl")
    for _ in range(3):
        assert lab5.checkpoint(job)["protocol"] == "cl"
    job.kill()
    job = lab5.restart()
    job.wait_for("^waiting")
    finish_probe(job, gate)


@pytest.mark.waiting
@pytest.mark.parametrize("name", probes.MPI4)
def test_restarted_probe(lab5, gate, name):
    job = start_probe(lab5, name, gate)
    lab5.checkpoint(job)
    job.kill()
    job = lab5.restart()
    job.wait_for("^waiting")
    finish_probe(job, gate)
