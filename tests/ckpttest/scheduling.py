# SPDX-License-Identifier: BSD-3-Clause
"""scheduling.py - a setting of the kernel without which what sleeps may starve.

Linux gives each session a share of the processors of its own (autogroups). In 6.18 a
session whose processes yield or wake all the time, as ranks do that are more than the
processors, then hardly lets anybody else run, kernel threads included, for seconds:
terminals, disks and agents stand still (docs/user-guide.md).
"""

import contextlib
from pathlib import Path

SETTING = Path("/proc/sys/kernel/sched_autogroup_enabled")


def is_grouped():
    """Whether the kernel makes such groups."""
    return SETTING.exists() and SETTING.read_text().strip() != "0"


def describe():
    """How the kernel shares the processors, for a report."""
    return "by session" if is_grouped() else "by process"


@contextlib.contextmanager
def no_groups():
    """Makes none meanwhile, if this user may say so."""
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
