# SPDX-License-Identifier: BSD-3-Clause
"""window_operations.py - the duration of put, get, accumulate and fetch-and-op, in
plain Open MPI, with ckpt, and with independent checkpoints, with staged and direct
puts."""

from ckpttest import programs
from ckpttest.settings import BUILD
from window_programs import WAYS, run_in_turn

ALL = (*WAYS, "direct")


def measure(lab, rounds, milliseconds):
    """Returns {quantity: {way: [(least, median), ...]}}, seconds, of run_in_turn()."""
    argv = [BUILD / "benchmarks/window_latency", milliseconds]
    program = programs.Program("window_latency", argv, 2, "")
    results = {}
    for way, job in run_in_turn(lab, program, rounds, ALL):
        for words in map(str.split, job.lines):
            if len(words) == 3:
                of_way = results.setdefault(words[0], {way: [] for way in ALL})
                of_way[way].append((float(words[1]), float(words[2])))
    return results
