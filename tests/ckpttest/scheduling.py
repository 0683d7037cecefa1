# SPDX-License-Identifier: BSD-3-Clause
"""scheduling.py - a kernel setting without which sleeping processes may starve.

Linux gives each session its own share of the processors (autogroups). In 6.18, ranks
that outnumber the processors yield or wake all the time. Their session then hardly lets
other sessions run for seconds, kernel threads included: terminals, disks and agents
stand still (docs/user-guide.md).
"""

import contextlib
from pathlib import Path

SETTING = Path("/proc/sys/kernel/sched_autogroup_enabled")


def is_grouped():
    """Whether the kernel makes such groups."""
    return SETTING.exists() and SETTING.read_text().strip() != "0"


def describe():
    """Says how the kernel shares the processors, for a report."""
    return "by session" if is_grouped() else "by process"


@contextlib.contextmanager
def no_groups():
    """Disables the groups for the duration, if this user may do so."""
    before = is_grouped()
    try:
        if before:
            SETTING.write_text("0")
    except OSError:
        before = False  # not ours to change: nothing to put back
    try:
        yield
    finally:
        if before:
            SETTING.write_text("1")
