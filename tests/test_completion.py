# SPDX-License-Identifier: BSD-3-Clause
"""Calls that complete requests (MPI 3.1, section 3.7.5), freed requests, and insignificant
arguments."""

import pytest

from ckpttest.programs import Program
from ckpttest.settings import APPS

PROGRAM = Program("completion", [APPS / "completion"], 2, progress="")
POLLED = Program("polled", [APPS / "polled", 50], 2)
INSIGNIFICANT = [APPS / "insignificant"]


def test_native(lab):
    """The program itself is right."""
    lab.start_native(PROGRAM).succeed()


def test_under_ckpt(lab):
    """The result under ckpt equals the native one."""
    lab.start(PROGRAM).succeed()


def test_with_checkpoints(lab):
    """The result is right with many checkpoints."""
    lab.start(PROGRAM, CKPT_INTERVAL="50ms", CKPT_KEEP=1).succeed()
    assert lab.checkpoints()


@pytest.mark.parametrize("protocol", ["sns", "cl", "ns"])
def test_array_that_is_asked_after_again_and_again(lab, native, protocol):
    """The array has other requests in each round, after a checkpoint and in a new MPI library."""
    parts = [lab.start(POLLED, CKPT_PROTOCOL=protocol)]
    for _ in range(2):
        for _ in range(3):
            parts[-1].wait_for(POLLED.progress)
            lab.checkpoint(parts[-1])
        parts[-1].kill()
        parts.append(lab.restart())
    parts[-1].succeed()
    assert lab.answer(POLLED, *parts) == native(POLLED).answer


def test_insignificant_arguments(lab):
    """Natively and under ckpt. Also with MPI_THREAD_MULTIPLE, where blocking collectives are a
    nonblocking call and a wait."""
    for argv in (INSIGNIFICANT, [*INSIGNIFICANT, "multiple"]):
        program = Program("insignificant", argv, 4, progress="")
        lab.start_native(program).succeed()
        lab.start(program).succeed()
