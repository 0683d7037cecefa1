# SPDX-License-Identifier: BSD-3-Clause
"""window_barriers.py - how long ranks that log unequal amounts wait in barriers for each other's
checkpoints, if they take them after the same barrier and if not.

The ranks take checkpoints in barriers, so the time in barriers that the program reports includes
its own checkpoints.
"""

import re
import time

from ckpttest import windows
from window_programs import LIMIT, RANKS, in_turn, look, start

ALIGNED = {"each by itself": "no", "behind one barrier": "yes"}
WAYS = ("plain", *ALIGNED)
STEPS, SIZE = 6000, 400  # some eight seconds
TOLD = re.compile(r"^uneven: (\S+) % of the time in barriers$")


def begin(lab, program, way):
    """Starts a job in one of the WAYS."""
    if way == "plain":
        return start(lab, program, way)
    return start(lab, program, "independent", CKPT_BARRIER_ALIGNED=ALIGNED[way])


def own_share(lab, job, steps):
    """Returns the share of time that a rank's own checkpoints take in the first half; looks only
    once, as each look takes processor time."""
    since = None
    while True:
        step = int(job.wait_for(r"^step (\d+)", LIMIT)[1])
        since = time.monotonic() if since is None else since
        if step >= steps / 2:
            break
    sample = look(lab, since)
    return sum(rank["keeping_ns"] for rank in sample["ranks"]) / RANKS * 1e-9 / sample["seconds"]


def shares(lab, program, way, steps):
    """Returns {"all", "own"}: shares of the time of one run, in barriers and in own checkpoints."""
    job = begin(lab, program, way)
    own = 0.0 if way == "plain" else own_share(lab, job, steps)
    job.succeed(LIMIT)
    (told,) = filter(None, map(TOLD.match, job.lines))
    return {"all": float(told[1]) / 100, "own": own}


def measure(lab, rounds, scale):
    """Returns {way: [shares(), ...]}, of in_turn()."""
    results = {way: [] for way in WAYS}
    steps = max(1, int(STEPS * scale))
    program = windows.program("uneven", steps, SIZE, ranks=RANKS, way=["--mode=heavy"])
    for way in in_turn(WAYS, rounds):
        results[way].append(shares(lab, program, way, steps))
    return results
