# SPDX-License-Identifier: BSD-3-Clause
"""The programs of the dissertation's chapter 4 at a small size: saved in their middle
by each protocol, killed, and restarted from the last checkpoint."""

import pytest

from ckpttest import non_mpi, workloads
from ckpttest.programs import ok_line
from ckpttest.settings import APPS
from ckpttest.workloads import MIB

WAYS = [
    {"CKPT_PROTOCOL": "sns"},
    {"CKPT_PROTOCOL": "cl", "CKPT_STAGGER": "node"},
    {"CKPT_PROTOCOL": "ns"},
]

MESSAGE_PASSING = [
    workloads.a_m_s("MED-SYNC", 64 * MIB, speed=30),
    workloads.a_m_s("LARGE-SYNC-RAND", 64 * MIB, speed=30),
    workloads.genetic(16 * MIB, 40),
    workloads.sparse(32 * MIB, 450),
    workloads.gauss(16 * MIB, 1000),
    workloads.fourier(64 * MIB, 4),
]
if (APPS / "workloads/molecules").exists():  # there is a Fortran compiler
    MESSAGE_PASSING += [
        workloads.molecules(64 * MIB, 150),
        workloads.equations(64 * MIB, 2500),
    ]


@pytest.mark.parametrize("program", MESSAGE_PASSING, ids=lambda program: program.name)
def test_saved_by_each_protocol(lab, native, program):
    job = lab.start(program, **WAYS[0])
    for next_way in [*WAYS[1:], {}]:
        job.wait_for(program.progress, count=2)
        lab.checkpoint(job)
        job.kill()
        job = lab.restart(**next_way)
    job.succeed()
    assert lab.answer(program, job) == native(program).answer


# Arguments after the size, for some tenths of a second.
THREADED = {
    "bubble_sort": [4, 5000],
    "matrix_product": [4, 200],
    "merge_sort": [8, 2],
    "pattern_matching": [1, 1],
    "travelling_salesman": [11, 5],
}


@pytest.mark.parametrize("name", THREADED)
def test_answer_for_any_number_of_threads(name):
    """Without MPI and without ckpt; the programs check themselves."""
    size, amount = THREADED[name]
    answers = set()
    for threads in (1, 3):
        command = [APPS / "threaded" / name, size, threads, amount]
        lines = non_mpi.lines_of(*command)
        assert lines[0] == "step 0", lines
        answers.add(ok_line(lines, None))
    assert len(answers) == 1
