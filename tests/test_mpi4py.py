# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's test suite under ckpt: undisturbed, and restarted in its middle.
Every test must end as it does without ckpt."""

import random

from ckpttest import programs, suite

SEED = random.randrange(1000000)  # a failing test shows it


def test_undisturbed(lab, native):
    run = suite.undisturbed(lab)
    assert run.answer == native(programs.mpi4py_suite()).answer


def test_restarted(lab, native):
    """Saved at random moments, and killed three times."""
    chance = random.Random(SEED)
    pauses = iter(lambda: chance.uniform(0, 1), None)
    kills = sorted(chance.randrange(suite.TESTS // 2) for _ in range(3))
    run = suite.disturbed(lab, pauses, kills)
    assert run.kills == 3
    assert run.answer == native(programs.mpi4py_suite()).answer
