# SPDX-License-Identifier: BSD-3-Clause
"""Recovery in place of a job on two nodes: the frozen copies of all ranks become the ranks, in a
world whose fences the agents carry from node to node (docs/recovery.md)."""

import os
import re
import signal

import pytest

from ckpttest import cluster, non_mpi, processes, programs, recoveries
from ckpttest.mpis import OPENMPI4, OPENMPI5

RANK = re.compile(rb"\0OMPI_COMM_WORLD_RANK=(\d+)\0")
MPIS = [mpi for mpi in (OPENMPI4, OPENMPI5) if mpi.installed]

pytestmark = pytest.mark.skipif(
    not cluster.is_possible(), reason="no network namespaces for this user"
)


@pytest.fixture(name="lab", params=MPIS, ids=lambda mpi: mpi.name)
def lab_on_nodes(request, nodes, tmp_path):
    """A lab whose jobs have two ranks on each of two nodes, and run under this mpirun."""
    mpi = request.param
    settings = mpi.settings()
    if mpi.prefix:
        settings["OPAL_PREFIX"] = mpi.prefix
    place = nodes.lab(tmp_path / "lab", slots=2, CKPT_KEEP_COPIES="yes", **settings)
    place.mpirun = mpi.mpirun
    place.options += ["--map-by", "node"]  # 5.0 fills the first node with --oversubscribe
    yield place
    place.close()


def start(lab, program, **settings):
    job = recoveries.start(lab, program, mpirun=True, **settings)
    job.wait_for(program.progress)
    return job


def ranks_of(lab, program):
    """Returns the process id of each rank, by its number; frozen copies and shells have other
    names."""
    found = {}
    for node in lab.cluster.names:
        for pid in lab.cluster.processes(node):
            if processes.name_of(pid) == program.name:
                found[int(RANK.search(processes.environment_of(pid))[1])] = pid
    return found


def save(lab, job):
    non_mpi.save(lab)
    recoveries.await_copies(lab, job)


def kill_one(lab, program, victim):
    """Kills a rank; returns the process ids of all ranks before."""
    ranks = ranks_of(lab, program)
    assert sorted(ranks) == list(range(program.ranks))
    os.kill(ranks[victim], signal.SIGKILL)
    return ranks


def is_right(lab, job):
    """Lets the program end, which must have its right answer, without a restart."""
    (lab.work / "stop").touch()
    assert any(line.startswith("OK ") for line in job.succeed())
    assert not [line for line in job.lines if "restart" in line], job.lines
    assert recoveries.nobody_is_left(lab, job)


def test_all_ranks_go_back_in_place(lab):
    """A rank of either node dies, and a job can recover again and again."""
    program = programs.traffic(0, 4, lab.work / "stop")
    job = start(lab, program)
    for number, victim in ((1, 3), (1, 0), (2, 1)):
        if non_mpi.newest(lab.store) < number:
            save(lab, job)
        ranks = kill_one(lab, program, victim)
        assert int(job.wait_for(recoveries.RECOVERED)[1]) == number
        assert not set(ranks.values()) & set(ranks_of(lab, program).values())
        job.wait_for(program.progress)
    is_right(lab, job)
