# SPDX-License-Identifier: BSD-3-Clause
"""phases.py STEPS - module ckpt of ckpt.py: safe points, hooks, excluded memory, a region, and a
checkpoint that all ranks request. Runs with ckpt and without."""

import itertools
import os
import sys
import time

import ckpt
from mpi4py import MPI

PAGE = 4096
SIZE = 4 << 20


class Device:
    """A device that must be closed at each checkpoint."""

    is_open = True
    restarts = 0

    def close(self):
        """Hook before a checkpoint."""
        assert self.is_open
        self.is_open = False

    def open(self, answer):
        """Hook after a checkpoint."""
        assert not self.is_open and answer in (ckpt.TAKEN, ckpt.RESTARTED, ckpt.REFUSED)
        self.is_open = True
        self.restarts += answer == ckpt.RESTARTED


def may_end(world):
    """Whether the job may end: see apps/may_end.h."""
    return world.bcast(not os.path.exists(".may-not-end"))


def main():
    world = MPI.COMM_WORLD
    steps = int(sys.argv[1])
    scratch = bytearray(SIZE)
    kept = bytearray(SIZE)
    device = Device()
    ckpt.exclude(scratch)
    ckpt.only_at_safe_points()
    with ckpt.hooks(device.close, device.open):
        for step in itertools.count(1):
            if step > steps and may_end(world):
                break
            before = ckpt.restarts()
            value = step % 255 + 1
            for i in range(0, SIZE, PAGE):
                scratch[i] = kept[i] = value
            with ckpt.no_checkpoint():
                assert world.allreduce(step, MPI.MAX) == step
            ckpt.safe_point()
            is_new = ckpt.restarts() != before
            # Buffers are not page-aligned: skips the bytes of the first and the last page.
            for i in range(PAGE, SIZE - PAGE, PAGE):
                assert kept[i] == value and scratch[i] == (0 if is_new else value), i
            assert device.is_open
            time.sleep(0.002)
            if world.rank == 0 and step % 20 == 0:
                print("step", step, flush=True)
            if step == steps // 2:
                last = ckpt.last()
                answer = ckpt.checkpoint(wait=True, together=True)
                assert answer in (ckpt.TAKEN, ckpt.RESTARTED, ckpt.ABSENT), ckpt.reason()
                assert answer != ckpt.TAKEN or ckpt.last() > last
                assert answer != ckpt.ABSENT or not ckpt.active()
    ckpt.include(scratch)
    if world.rank == 0:
        print(f"restarts {ckpt.restarts()}, hooks {device.restarts}")
        print("OK", steps, flush=True)


main()
