# SPDX-License-Identifier: BSD-3-Clause
"""Calls every function of mpi.h with and without ckpt, with a checkpoint, a kill and a
restart between its calls."""

import pytest

from ckpttest import coverage
from ckpttest.lab import Lab
from ckpttest.mpis import OPENMPI5
from ckpttest.settings import TIMEOUT

# The last test adds up the calls of the tests before it.
pytestmark = pytest.mark.xdist_group("coverage")


def called_names(lines):
    return {line.split()[1] for line in lines if line.startswith("called ")}


def finish(job, run):
    assert job.finish(2 * TIMEOUT) == run.code, "\n".join(job.lines[-25:])
    assert run.code != 0 or "OK" in job.lines
    # mpirun may lose output just before MPI_Abort; the exit code shows the call
    return [*job.lines, "called Abort 0 1"] if run.code else job.lines


def run_across(lab, run):
    """Runs sections with a checkpoint, a kill and a restart, if they can be saved."""
    gate = lab.directory / f"{run.name}.gate"
    job = lab.start(run.program(gate, lab.directory / f"{run.name}.data"))
    job.wait_for("^waiting")
    if not run.why_not:
        lab.checkpoint(job)
        job.kill()
        job = lab.restart()
        job.wait_for("^waiting")
    gate.touch()
    return finish(job, run)


def run_native(lab, run):
    gate = lab.directory / f"{run.name}.native-gate"
    gate.touch()
    job = lab.start_native(
        run.program(gate, lab.directory / f"{run.name}.native-data")
    )
    return finish(job, run)


@pytest.fixture(scope="module")
def known():
    return coverage.Coverage(coverage.every_function())


@pytest.mark.parametrize("run", coverage.RUNS, ids=lambda run: run.name)
def test_sections(lab, known, run):
    """The program calls the same functions with and without ckpt."""
    lines = run_across(lab, run)
    assert called_names(lines) == called_names(run_native(lab, run))
    known.add(run, lines)


def test_every_function(known, record_property):
    """After all sections, no function is left out."""
    summary = known.summary()
    print(summary)
    record_property("coverage", summary.partition("\n")[0])
    assert known.called == known.functions, summary
    assert all(known.not_across().values()), summary


@pytest.fixture
def lab5(tmp_path):
    """A lab for Open MPI 5.0."""
    settings = {"LD_BIND_NOW": "1", **OPENMPI5.settings()}
    lab = Lab(tmp_path, mpirun=OPENMPI5.mpirun, **settings)
    yield lab
    lab.close()


@pytest.mark.skipif(not OPENMPI5.installed, reason="no Open MPI 5.0 (see setup)")
def test_openmpi5(lab5, record_property):
    """The functions that the header of Open MPI 5.0 adds. The program names every
    function, and does not start if one is missing."""
    new = coverage.every_function("mpi4") - coverage.every_function()
    known = coverage.Coverage(new)
    known.add(coverage.MPI4, run_across(lab5, coverage.MPI4))
    known.called &= new
    known.across &= new
    summary = known.summary()
    print(summary)
    record_property("coverage5", summary.partition("\n")[0])
    assert known.called == known.across == new, summary
