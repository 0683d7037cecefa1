#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""objects.py [STEPS] - mpi4py: numpy arrays, pickled objects, derived types.

Each step checks all received data; the answer depends only on the numbers of
steps and ranks.
"""

import hashlib
import os
import sys

import numpy
from mpi4py import MPI

SIDE = 64
STEPS_PER_LINE = 20


def matrix_of(step, rank):
    """Returns the matrix of a rank at a step: small integers, so sums are
    exact."""
    base = numpy.arange(SIDE * SIDE, dtype=numpy.float64).reshape(SIDE, SIDE)
    return (base * (rank + 3) + step) % 257


def reduce_matrices(comm, step):
    """Sums the matrices of all ranks, through numpy buffers."""
    total = numpy.empty((SIDE, SIDE))
    comm.Allreduce(matrix_of(step, comm.rank), total, op=MPI.SUM)
    expected = sum(matrix_of(step, rank) for rank in range(comm.size))
    assert numpy.array_equal(total, expected), f"sum at step {step}"
    return total


def message_of(step, rank):
    """Returns an object with values of many types, to be pickled."""
    return {
        "step": step,
        "from": rank,
        "words": [f"word {n}" for n in range(step % 7)],
        "big": 3 ** (step % 90 + 1),
        "table": numpy.arange(rank + step % 50),
        "nested": ({rank, step}, None, 1.5, b"bytes"),
    }


def same(a, b):
    """Compares two messages; compares their tables element by element."""
    tables = numpy.array_equal(a.pop("table"), b.pop("table"))
    return tables and a == b


def pass_objects(comm, step):
    """Sends a pickled object round the ring, received with wildcards."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    request = comm.isend(message_of(step, comm.rank), dest=right, tag=step % 9)
    status = MPI.Status()
    received = comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
    request.wait()
    assert status.source == left and status.tag == step % 9
    assert same(received, message_of(step, left)), f"object at step {step}"


def exchange_columns(comm, column_type, step):
    """Sends one column of a matrix with a vector type."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    column = step % SIDE
    mine = matrix_of(step, comm.rank)
    theirs = numpy.full((SIDE, SIDE), -1.0)
    comm.Sendrecv(
        [mine.ravel()[column:], 1, column_type],
        dest=right,
        recvbuf=[theirs.ravel()[column:], 1, column_type],
        source=left,
    )
    assert numpy.array_equal(
        theirs[:, column], matrix_of(step, left)[:, column]
    ), f"column at step {step}"
    assert theirs.sum() == theirs[:, column].sum() - SIDE * (SIDE - 1)


def gather_objects(comm, step):
    """Collectives on pickled objects."""
    everyone = comm.allgather((comm.rank, step, "x" * (step % 13)))
    assert [entry[0] for entry in everyone] == list(range(comm.size))
    root = step % comm.size
    chosen = comm.bcast(everyone[root] if comm.rank == root else None, root)
    assert chosen == (root, step, "x" * (step % 13))


def main():
    """Runs the steps and prints the answer."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    comm = MPI.COMM_WORLD.Dup()
    column_type = MPI.DOUBLE.Create_vector(SIDE, 1, SIDE).Commit()
    digest = hashlib.sha256()
    for step in range(steps):
        if comm.rank == 0 and step % STEPS_PER_LINE == 0:
            print("step", step, flush=True)
        digest.update(reduce_matrices(comm, step).tobytes())
        pass_objects(comm, step)
        exchange_columns(comm, column_type, step)
        gather_objects(comm, step)
        comm.Barrier()  # keeps the wildcard receives of two steps apart
    while comm.bcast(os.path.exists(".may-not-end")):  # see apps/may_end.h
        if comm.rank == 0:
            print("step", 10**9, flush=True)
        pass_objects(comm, 0)
    answers = comm.gather(digest.hexdigest())
    if comm.rank == 0:
        assert len(set(answers)) == 1
        print("OK", answers[0][:16], flush=True)
    column_type.Free()
    comm.Free()


main()
