# SPDX-License-Identifier: BSD-3-Clause
"""window_returns.py - how long it takes after the kill of a rank until all ranks compute again:
either the rank is replayed, or all roll back to a global checkpoint."""

import random

from ckpttest import replays

PROGRAMS = ("barnes", "water_nsquared --mode=accumulate", "water_spatial")
MOST = 3  # jobs for each kill
WAYS = {"independent": replays.INDEPENDENT, "coordinated": replays.COORDINATED}


def measure(directory, count, seed):
    """Returns {program: {way: of_kills()}}"""
    results = {name: {} for name in PROGRAMS}
    for index, name in enumerate(PROGRAMS):
        for way in WAYS:
            chance = random.Random(f"{seed} {name}")
            place = directory / f"{index}-{way}"
            results[name][way] = of_kills(place, name, way, chance, count)
    return results


def of_kills(directory, name, way, chance, count):
    """Returns {"kills": [{"computing", "seconds"}], "others": [why they do not count]}, of one job
    after the other until there are enough kills, or too many jobs."""
    kills, others = [], []
    for job in range(MOST * count):
        if len(kills) < count:
            run = replays.Run(directory / str(job), name, chance, WAYS[way])
            try:
                while len(kills) + len(run.kills) < count and run.kill_once():
                    pass
                run.settle()
            finally:
                run.close()
            for kill in run.kills:
                if kill.seconds and (way == "coordinated" or not kill.why_not):
                    kills.append({"computing": kill.computing, "seconds": kill.seconds})
                else:
                    others.append(kill.why_not or "the job ended")
    return {"kills": kills, "others": others}
