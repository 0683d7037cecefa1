# SPDX-License-Identifier: BSD-3-Clause
"""window_barriers.py - how long ranks that log unequal amounts wait for each other's
checkpoints in barriers, if they take them behind the same barrier and if not."""

import re

from window_programs import program_of, run_in_turn, start

ALIGNED = {"each by itself": "no", "behind one barrier": "yes"}
WAYS = ("plain", *ALIGNED)
PROGRAM = ("uneven", 30000, 4000)
TOLD = re.compile(r"^uneven: (\S+) % of the time in barriers$")


def begin(lab, program, way):
    """A job, run in one of the WAYS."""
    if way == "plain":
        return start(lab, program, way)
    return start(lab, program, "independent", CKPT_BARRIER_ALIGNED=ALIGNED[way])


def measure(lab, rounds, scale):
    """{way: [share of the time, ...]}, of run_in_turn()."""
    results = {way: [] for way in WAYS}
    program = program_of(*PROGRAM, scale)
    for way, job in run_in_turn(lab, program, rounds, WAYS, begin):
        (told,) = filter(None, map(TOLD.match, job.lines))
        results[way].append(float(told[1]) / 100)
    return results
