# SPDX-License-Identifier: BSD-3-Clause
"""Communicators with a topology, after various nonblocking collectives."""

from ckpttest.programs import Program
from ckpttest.settings import APPS

GRAPHS = Program("dist_graphs", [APPS / "dist_graphs"], 4, progress="")


def test_graphs_between_collectives(lab):
    """This runs only under ckpt: with Open MPI alone the ranks hang."""
    lab.start(GRAPHS).succeed()
