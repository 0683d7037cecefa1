# SPDX-License-Identifier: BSD-3-Clause
"""test_instructions.py - how many instructions the wrappers add to a call. Unlike
times, these are the same on every machine."""

import sys

import pytest
from ckpttest.lab import Lab
from ckpttest.settings import TOP

sys.path.append(str(TOP / "benchmarks"))

import measure  # noqa: E402  (needs the path)

# Limits for the instructions in our library, a third above the measured numbers
# (docs/benchmarks.md). A search among handles, or a second crossing, would exceed them.
INQUIRY, CALL, REQUEST = 25, 160, 300
MOST = {
    "MPI_Comm_rank": INQUIRY,
    "MPI_Comm_size": INQUIRY,
    "MPI_Wtime": INQUIRY,
    "MPI_Get_count": CALL,
    "MPI_Send": CALL,
    "MPI_Recv": CALL,
    "MPI_Iprobe": CALL,
    "MPI_Barrier": CALL,
    "MPI_Bcast": CALL,
    "MPI_Reduce": CALL,
    "MPI_Allreduce": CALL,
    "MPI_Allgather": CALL,
    "MPI_Alltoall": CALL,
    "MPI_Isend": REQUEST,
    "MPI_Irecv": REQUEST,
    "MPI_Wait": REQUEST,
    "MPI_Test": REQUEST,
    "MPI_Waitany": 1.5 * REQUEST,
    "MPI_Waitall": 2 * REQUEST,
    "MPI_Sendrecv": 2.5 * REQUEST,
}


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    lab = Lab(tmp_path_factory.mktemp("instructions"))
    try:
        yield measure.instructions(lab, repetitions=5)
    finally:
        lab.close()


def test_counted(counted):
    assert set(counted) == {"nothing", *MOST}
    assert all(counts["native"][1] == 0 for counts in counted.values())


@pytest.mark.parametrize("name", MOST)
def test_few(counted, name):
    assert 0 < counted[name]["ckpt"][1] <= MOST[name]
