# SPDX-License-Identifier: BSD-3-Clause
"""Parallel HDF5 with h5py: all ranks have a file open while they rewrite one dataset,
extend another and read back each other's data."""

import hashlib
import sys

import numpy
from mpi4py import MPI

import h5py

WIDTH = 3000


def values(rank, step):
    """Returns the data that a rank writes in a step."""
    return numpy.arange(WIDTH, dtype="u8") * (step + 3) + rank


def make(name, size):
    """Creates the file with its datasets."""
    store = h5py.File(name, "w", driver="mpio", comm=MPI.COMM_WORLD)
    store.create_dataset("state", (size, WIDTH), "u8")
    history = {"maxshape": (None, size, 10), "chunks": (4, size, 10)}
    store.create_dataset("history", (0, size, 10), "u8", **history)
    return store


def run_step(store, rank, size, step):
    """All ranks write together, and each reads the data of the next rank."""
    state, history = store["state"], store["history"]
    with state.collective:
        state[rank] = values(rank, step)
    history.resize(step + 1, axis=0)
    history[step, rank] = values(rank, step)[:10]
    store.attrs["steps"] = step + 1
    store.flush()
    MPI.COMM_WORLD.Barrier()
    other = (rank + 1) % size
    assert (state[other] == values(other, step)).all(), f"step {step}"
    assert (history[step, other] == values(other, step)[:10]).all()
    MPI.COMM_WORLD.Barrier()


def main():
    """argv: STEPS"""
    steps = int(sys.argv[1])
    rank, size = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
    store = make("datasets.h5", size)
    for step in range(steps):
        run_step(store, rank, size, step)
        if rank == 0 and step % 10 == 0:
            print(f"step {step}", flush=True)
    store.close()
    if rank == 0:
        with h5py.File("datasets.h5", "r") as store:
            assert store.attrs["steps"] == steps
            content = store["state"][...].tobytes() + store["history"][...].tobytes()
        print(f"OK {hashlib.sha256(content).hexdigest()[:16]}", flush=True)


main()
