# SPDX-License-Identifier: BSD-3-Clause
"""window_barriers.py - how long ranks that log unequal amounts wait for each other's
checkpoints in barriers, if they take them behind the same barrier and if not.

They take them there, so that what the program says of its time in barriers has its own
checkpoints in it, too.
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
    """A job, run in one of the WAYS."""
    if way == "plain":
        return start(lab, program, way)
    return start(lab, program, "independent", CKPT_BARRIER_ALIGNED=ALIGNED[way])


def own_share(lab, job, steps):
    """Of the time that a rank's own checkpoints take, in the first half: looked at once, as
    to look takes a processor's time."""
    since = None
    while True:
        step = int(job.wait_for(r"^step (\d+)", LIMIT)[1])
        since = time.monotonic() if since is None else since
        if step >= steps / 2:
            break
    sample = look(lab, since)
    return sum(rank["keeping_ns"] for rank in sample["ranks"]) / RANKS * 1e-9 / sample["seconds"]


def shares(lab, program, way, steps):
    """{"all", "own"}: shares of the time of one run, in barriers and in own checkpoints."""
    job = begin(lab, program, way)
    own = 0.0 if way == "plain" else own_share(lab, job, steps)
    job.succeed(LIMIT)
    (told,) = filter(None, map(TOLD.match, job.lines))
    return {"all": float(told[1]) / 100, "own": own}


def measure(lab, rounds, scale):
    """{way: [shares(), ...]}, of in_turn()."""
    results = {way: [] for way in WAYS}
    steps = max(1, int(STEPS * scale))
    program = windows.program("uneven", steps, SIZE, ranks=RANKS, way=["--mode=heavy"])
    for way in in_turn(WAYS, rounds):
        results[way].append(shares(lab, program, way, steps))
    return results
