# SPDX-License-Identifier: BSD-3-Clause
"""Calls that complete requests (MPI 3.1, section 3.7.5), and requests that are freed."""

from ckpttest.programs import Program
from ckpttest.settings import APPS

PROGRAM = Program("completion", [APPS / "completion"], 2, progress="")


def test_native(lab):
    """The program itself is right."""
    lab.start_native(PROGRAM).succeed()


def test_under_ckpt(lab):
    """As without ckpt."""
    lab.start(PROGRAM).succeed()


def test_with_checkpoints(lab):
    """Many of them."""
    lab.start(PROGRAM, CKPT_INTERVAL="50ms", CKPT_KEEP=1).succeed()
    assert lab.checkpoints()
