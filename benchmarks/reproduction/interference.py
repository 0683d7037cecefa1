# SPDX-License-Identifier: BSD-3-Clause
"""interference.py - the processors' time that others took while a run was measured, who
may have delayed it by as much."""

import os
import resource
from pathlib import Path

from ckpttest import processes

BUSY = (0, 1, 2, 5, 6, 7)  # user, nice, system, irq, softirq, stolen by the host
TICKS = os.sysconf("SC_CLK_TCK")


def _busy():
    """Seconds that all processors have been busy."""
    text = Path("/proc/stat").read_text(encoding="utf-8")
    fields = list(map(int, text.splitlines()[0].split()[1:]))
    return sum(fields[index] for index in BUSY) / TICKS


def _own():
    """Seconds of this process and of all below it that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def agents_seconds(store):
    """Of the agents of a checkpoint directory, which are below nobody."""
    return sum(
        processes.seconds_of(pid)
        for pid in processes.started_with("CKPT_DIR", store)
        if processes.name_of(pid) == "ckptd"
    )


class Meter:
    """From its making on; `agents`: seconds of agents, to be added as they are known."""

    def __init__(self):
        self._began = _busy() - _own()
        self.agents = 0.0

    def seconds(self):
        """Of others, once all that was started here has ended."""
        return max(0.0, _busy() - _own() - self._began - self.agents)
