# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI 5.0 (the PyPI wheel): the same programs, and restarts across."""

import os

import pytest

from ckpttest import probes, programs
from ckpttest.lab import Lab
from ckpttest.settings import MPIRUN, OPENMPI5

pytestmark = pytest.mark.skipif(
    not (OPENMPI5 / "bin/mpirun").exists(), reason="no Open MPI 5.0 (see setup)"
)

MPIRUN5 = OPENMPI5 / "bin/mpirun"
SETTINGS = {
    "PATH": f"{OPENMPI5}/bin:{os.environ['PATH']}",
    "LD_LIBRARY_PATH": OPENMPI5 / "lib",
}


@pytest.fixture
def lab5(tmp_path):
    """A scratch place in which mpirun is that of Open MPI 5.0."""
    lab = Lab(tmp_path, mpirun=MPIRUN5, **SETTINGS)
    yield lab
    lab.close()


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


def library(lines, when):
    """What the library probe has said before or after the restart."""
    (line,) = (line for line in lines if line.startswith(f"{when}: "))
    return line.partition(": ")[2]


def restart_elsewhere(lab, mpirun, **settings):
    """Saves the library probe, kills it, restarts it under another mpirun."""
    gate = lab.directory / "gate"
    first = lab.start(probes.probe("library", gate))
    first.wait_for("^waiting")
    lab.checkpoint(first)
    first.kill()
    gate.touch()
    second = lab.restart(CKPT_MPIRUN=mpirun, **settings)
    return library(first.lines, "before"), library(second.succeed(), "after")


def test_from_4_to_5(lab):
    before, after = restart_elsewhere(lab, MPIRUN5, **SETTINGS)
    assert "v4.1" in before and "v5.0" in after


def test_from_5_to_4(lab5):
    plain = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": ""}
    before, after = restart_elsewhere(lab5, MPIRUN, **plain)
    assert "v5.0" in before and "v4.1" in after
