# SPDX-License-Identifier: BSD-3-Clause
"""A restarted rank opens the components of Open MPI that its library had chosen before: only if
library, settings and node are the same, and with the search as the fall-back."""

import re
import subprocess
from pathlib import Path

import pytest

from ckpttest import mpis, processes, programs

# Open MPI says which components it finds, opens and closes.
VERBOSE = {"OMPI_MCA_pml_base_verbose": "10", "OMPI_MCA_btl_base_verbose": "10"}
FOUND = re.compile(
    r"components_register: (?:component (\w+) register|found loaded component (\w+))"
)
SHARED_MEMORY = {"openmpi4": "vader", "openmpi5": "sm"}


def found(lines):
    """Returns the components that the library has looked at, by these lines."""
    matches = (FOUND.search(line) for line in lines)
    return {match[1] or match[2] for match in matches if match}


def chosen(mpi):
    return {"ob1", "self", "tcp", SHARED_MEMORY[mpi.name]}


@pytest.fixture(params=[mpis.OPENMPI4, mpis.OPENMPI5], ids=lambda mpi: mpi.name)
def mpi(request):
    if not request.param.installed:
        pytest.skip(f"{request.param.name} is not installed (see setup)")
    return request.param


@pytest.fixture
def place(tmp_path, mpi):
    lab = mpi.lab(tmp_path, mpirun=mpi.mpirun, holds=True, **mpi.settings(), **VERBOSE)
    yield lab
    lab.close()


def first_part(lab, program, **variables):
    """Starts a job, saves and kills it; returns it."""
    job = lab.start(program, **variables)
    job.wait_for(program.progress, count=3)
    lab.checkpoint(job)
    job.kill()
    return job


def last_part(lab, *options, **variables):
    """Restarts the job; returns it when it makes progress again and has ended."""
    # pylint: disable-next=protected-access
    job = lab._start([lab.ckpt_program, "restart", *options], variables)
    job.succeed()
    return job


def without_hint(job):
    assert not any("the former world" in line for line in job.lines), job.lines
    return found(job.lines)


def test_former(place, mpi, native):
    """Also a restart of a restart."""
    program = programs.ring(1500)
    first = first_part(place, program)
    assert found(first.lines) > chosen(mpi)
    second = place.restart()
    second.wait_for(program.progress)
    place.checkpoint(second)
    second.kill()
    third = last_part(place)
    for job in (second, third):
        assert chosen(mpi) <= without_hint(job) < found(first.lines)
        assert not {"cm", "ucx"} & found(job.lines)
    assert place.answer(program, first, second, third) == native(program).answer


@pytest.mark.parametrize("way", ["option", "variable", "recorded"])
def test_search(place, way):
    """The user wants a search; a later restart knows what it has found."""
    program = programs.ring(1500)
    search = {"CKPT_COMPONENTS": "search"}
    first = first_part(place, program, **(search if way == "recorded" else {}))
    options = ["--components", "search"] if way == "option" else []
    second = last_part(place, *options, **(search if way == "variable" else {}))
    assert without_hint(second) == found(first.lines)
    if way == "recorded":
        third = last_part(place, "--components", "former")
        assert without_hint(third) < found(first.lines)


def test_parameter_of_the_user(place, mpi):
    """What the user sets for the restart is used, and the library chooses the rest again."""
    first = first_part(place, programs.ring(1500))
    second = last_part(place, OMPI_MCA_btl="self,tcp")
    assert without_hint(second) == found(first.lines) - _btl(first) | {"self", "tcp"}


def _btl(job):
    """Returns the btl components that the library has looked at."""
    lines = iter(job.lines)
    names = set()
    framework = None
    for line in lines:
        begins = re.search(r"registering framework (\w+) components", line)
        framework = begins[1] if begins else framework
        if framework == "btl":
            names |= found([line])
    return names


def test_parameter_of_the_user_throughout(place, mpi):
    """The library chooses the same again, within what the user allows."""
    allowed = {"OMPI_MCA_btl": "^tcp"}
    first = first_part(place, programs.ring(1500), **allowed)
    second = last_part(place, **allowed)
    assert "tcp" not in found(first.lines)
    assert without_hint(second) < found(first.lines)
    assert {"ob1"} < found(second.lines) and "cm" not in found(second.lines)


def test_parameter_file(place, mpi):
    """A parameter file that has changed since counts as well."""
    home = {"HOME": str(place.directory)}
    first = first_part(place, programs.ring(1500), **home)
    file = place.directory / ".openmpi/mca-params.conf"
    file.parent.mkdir(exist_ok=True)
    file.write_text("btl = self,tcp\n")
    second = last_part(place, **home)
    assert without_hint(second) >= {"cm", "ob1", "self", "tcp"}
    assert SHARED_MEMORY[mpi.name] in found(first.lines) - found(second.lines)


@pytest.mark.parametrize(
    "start, end",
    [(mpis.OPENMPI4, mpis.OPENMPI5), (mpis.OPENMPI5, mpis.OPENMPI4), (mpis.MPICH, mpis.OPENMPI4)],
    ids=lambda mpi: mpi.name,
)
def test_other_library(tmp_path, native, start, end):
    """The components of one library mean nothing to another."""
    if not start.installed or not end.installed:
        pytest.skip("not installed (see setup)")
    crossing = mpis.Crossing(tmp_path, start, end)
    crossing.lab.settings.update(VERBOSE)
    program = programs.ring(1500)
    try:
        assert crossing.answer(program) == native(program).answer
        assert without_hint(crossing.lab.jobs[-1]) > chosen(end) | {"cm"}
    finally:
        crossing.lab.close()


@pytest.fixture
def components(tmp_path):
    """A directory with the components of Open MPI 4.1, which are shared objects."""
    library = subprocess.run(
        ["ompi_info", "--path", "pkglibdir", "--parsable"],
        capture_output=True, text=True, check=True,
    ).stdout.strip().rpartition(":")[2]
    directory = tmp_path / "components"
    directory.mkdir()
    for file in Path(library).glob("mca_*.so"):
        (directory / file.name).symlink_to(file)
    if not (directory / "mca_btl_tcp.so").exists():
        pytest.skip("the components are not shared objects")
    return directory


def component_path(directory):
    return {"OMPI_MCA_mca_base_component_path": str(directory)}


def test_component_is_gone(lab, native, components):
    """The names cannot work: the restart ends with a line that says what to do, and that works."""
    program = programs.ring(1500)
    path = component_path(components)
    first = first_part(lab, program, **path)
    (components / "mca_btl_tcp.so").unlink()
    second = lab.restart(**path)
    assert second.finish() != 0
    assert any("--components search" in line for line in second.lines), second.lines
    third = last_part(lab, "--components", "search", **path)
    assert lab.answer(program, first, second, third) == native(program).answer


def test_component_is_gone_under_run(lab, native, components):
    """ckpt run itself restarts without the names."""
    program = programs.ring(1500)
    path = component_path(components)
    program.prepare(lab.work)
    run = [lab.ckpt_program, "run", "--name", "job", "--"]
    # pylint: disable-next=protected-access
    job = lab._start([*run, *lab.mpirun_command(program)], path)
    job.wait_for(program.progress, count=3)
    lab.ckpt_json("checkpoint", "job")
    (components / "mca_btl_tcp.so").unlink()
    processes.kill(job.ranks()[0])
    job.wait_for("no rank has come back; in the next restart the MPI library searches")
    job.wait_for(program.progress)
    job.succeed()
    assert lab.answer(program, job) == native(program).answer
