# SPDX-License-Identifier: BSD-3-Clause
"""interference.py - the processor time that other processes took during a run; they may have
delayed the run by as much."""

import os
import resource
from pathlib import Path

from ckpttest import processes

# Columns: user, nice, system, irq, softirq, stolen by the host.
BUSY = (0, 1, 2, 5, 6, 7)
TICKS = os.sysconf("SC_CLK_TCK")


def _busy():
    """Returns the seconds that all processors have been busy."""
    text = Path("/proc/stat").read_text(encoding="utf-8")
    fields = list(map(int, text.splitlines()[0].split()[1:]))
    return sum(fields[index] for index in BUSY) / TICKS


def _own():
    """Returns the processor seconds of this process and of all its descendants that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def agents_seconds(store):
    """Returns the processor seconds of the agents of a checkpoint directory, which are not
    descendants of this process."""
    return sum(
        processes.seconds_of(pid)
        for pid in processes.started_with("CKPT_DIR", store)
        if processes.name_of(pid) == "ckptd"
    )


class Meter:
    """Measures from its construction on; `agents`: seconds of agents, which the caller adds."""

    def __init__(self):
        self._began = _busy() - _own()
        self.agents = 0.0

    def seconds(self):
        """Returns the seconds of other processes, once all processes started here have ended."""
        return max(0.0, _busy() - _own() - self._began - self.agents)
