# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI 5.0 (the PyPI wheel): the same programs. Restarts across releases
are in test_other_mpi.py."""

import pytest

from ckpttest import programs
from ckpttest.lab import Lab
from ckpttest.mpis import OPENMPI5

pytestmark = pytest.mark.skipif(
    not OPENMPI5.installed, reason="no Open MPI 5.0 (see setup)"
)


@pytest.fixture
def lab5(tmp_path):
    """A scratch place in which mpirun is that of Open MPI 5.0."""
    lab = Lab(tmp_path, mpirun=OPENMPI5.mpirun, **OPENMPI5.settings())
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
