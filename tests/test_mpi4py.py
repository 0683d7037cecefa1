# SPDX-License-Identifier: BSD-3-Clause
"""Another project's test suite under ckpt: undisturbed, and restarted in its
middle."""

import random

from ckpttest import programs

SEED = random.randrange(1000000)  # a failing test shows it


def test_undisturbed(lab, native):
    program = programs.mpi4py_suite()
    job = lab.start(program)
    job.succeed(300)
    assert lab.answer(program, job) == native(program).answer


def test_restarted(lab, native):
    """Saved and killed at random moments. While a window or a file is open a
    checkpoint is refused, which must not disturb either."""
    program = programs.mpi4py_suite()
    chance = random.Random(SEED)
    parts = [lab.start(program)]
    parts[0].wait_for(program.progress)
    kills = 0
    while parts[-1].run_on(chance.uniform(0, 1)):
        saved = lab.ckpt("checkpoint", parts[-1].pid)
        ended = not parts[-1].run_on(0)
        assert saved.returncode in (0, 3, 4) or ended, saved.stderr
        if saved.returncode == 0 and kills < 3:
            parts[-1].kill()
            parts.append(lab.restart())
            kills += 1
    parts[-1].succeed(300)
    assert kills == 3
    assert lab.answer(program, parts[-1]) == native(program).answer
