# SPDX-License-Identifier: BSD-3-Clause
"""Communicators with a topology, whatever nonblocking collectives came before."""

from ckpttest.programs import Program
from ckpttest.settings import APPS

GRAPHS = Program("dist_graphs", [APPS / "dist_graphs"], 4, progress="")


def test_graphs_between_collectives(lab):
    """Only under ckpt: with Open MPI alone the ranks hang."""
    lab.start(GRAPHS).succeed()
