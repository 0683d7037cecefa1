# SPDX-License-Identifier: BSD-3-Clause
"""Several threads in MPI at once (MPI_THREAD_MULTIPLE), under ckpt."""

import random

import pytest

from ckpttest import programs
from ckpttest.endurance import kill_at_random_moments


@pytest.mark.parametrize("ranks, workers", [(2, 4), (3, 8)])
def test_killed_at_random_moments(lab, ranks, workers):
    """The program goes on until the test tells it to stop: it cannot end
    before."""
    stop_file = lab.directory / "stop"
    program = programs.multiple(0, ranks, workers, stop_file)
    kill_at_random_moments(
        lab, program, stop_file, random.Random(workers), 2 * [(0.3, 0.1)]
    )
