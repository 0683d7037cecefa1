# SPDX-License-Identifier: BSD-3-Clause
"""Several threads in MPI at once (MPI_THREAD_MULTIPLE), under ckpt."""

import random

import pytest

from ckpttest import programs


@pytest.mark.parametrize("ranks, workers", [(2, 4), (3, 8)])
def test_killed_at_random_moments(lab, ranks, workers):
    """The program goes on until it is told to stop: it cannot end before."""
    stop_file = lab.directory / "stop"
    program = programs.multiple(0, ranks, workers, stop_file)
    chance = random.Random(workers)
    job = lab.start(program)
    for _ in range(2):
        job.wait_for(program.progress)
        assert job.run_on(chance.uniform(0.0, 0.3))
        lab.checkpoint(job)
        assert job.run_on(chance.uniform(0.0, 0.1))
        job.kill()
        job = lab.restart()
    job.wait_for(program.progress)
    stop_file.touch()
    programs.ok_line(job.succeed(), lab.work)
