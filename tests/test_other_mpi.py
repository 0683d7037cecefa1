# SPDX-License-Identifier: BSD-3-Clause
"""Images made under one MPI and restarted under another: Open MPI 4.1, Open MPI 5.0 and
MPICH 5.0 (wheels of PyPI), with MPI features in use at the checkpoint.

With CKPT_TEST_FULL=1, every probe that can be saved crosses between every pair.
"""


import pytest

from ckpttest import mpis, probes, programs
from ckpttest.settings import FULL



@pytest.fixture
def crossing(tmp_path, request):
    """Jobs that start under one MPI and go on under another."""
    start, end = request.param
    for mpi in (start, end):
        if not mpi.installed:
            pytest.skip(f"{mpi.name} is not installed (see setup)")
    place = mpis.Crossing(tmp_path, start, end)
    yield place
    place.lab.close()


def across(*directions):
    return pytest.mark.parametrize(
        "crossing", directions, indirect=True, ids=lambda d: f"{d[0].name}-{d[1].name}"
    )


ALL = [
    (mpis.OPENMPI4, mpis.OPENMPI5),
    (mpis.OPENMPI5, mpis.OPENMPI4),
    (mpis.OPENMPI4, mpis.MPICH),
    (mpis.MPICH, mpis.OPENMPI4),
]


@across(*ALL)
def test_library(crossing):
    """MPI_Get_library_version names the library in use on both sides."""
    before, after = crossing.libraries()
    assert crossing.start.version in before and crossing.end.version in after


@across(*ALL[:2])
@pytest.mark.parametrize("name", probes.SAVED if FULL else probes.OTHER_RELEASE)
def test_probe_in_another_release(crossing, name):
    crossing.probe(name)


@across(*(ALL if FULL else [ALL[1], ALL[2]]))
@pytest.mark.parametrize("name", probes.MPI4)
def test_newer_functions(crossing, name):
    """Functions of MPI 4.0, also over a library that lacks them."""
    crossing.probe(name)


@across(*ALL[2:])
@pytest.mark.parametrize("name", probes.PORTABLE if FULL else probes.OTHER_MPI)
def test_probe_in_another_mpi(crossing, name):
    crossing.probe(name)


@pytest.mark.busy  # two ranks of MPICH that share a processor wait for each other
@across(*ALL[2:])
@pytest.mark.parametrize(
    "program",
    [programs.ring(40000), programs.traffic(2000), programs.objects(10000, ranks=2)],
    ids=lambda p: p.name,
)
def test_program(crossing, native, program):
    assert crossing.answer(program) == native(program).answer


@pytest.mark.busy
@across((mpis.MPICH, mpis.MPICH))
def test_mpich_throughout(crossing, native):
    """The job is started, saved and restarted over MPICH, by the recorded launcher."""
    program = programs.ring(40000)
    first = crossing.lab.start(program)
    first.wait_for(program.progress, count=3)
    crossing.lab.checkpoint(first)
    first.kill()
    second = crossing.lab.restart()
    second.succeed()
    assert crossing.lab.answer(program, first, second) == native(program).answer
