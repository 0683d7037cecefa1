# SPDX-License-Identifier: BSD-3-Clause
"""refusals.py - the identities of refusals: in the table, and in messages of ckpt."""

import re

from .settings import TOP

TABLE = TOP / "libckpt/include/ckpt/refusals.h"

# Reasons that pass by themselves: a child of the program that lives for a moment, and a job that
# ends.
OF_CHILDREN = {"living-child", "ended-child"}
OF_ENDS = {"job-ending", "rank-died"}


def identity(text):
    """Returns the name at the end of a message of ckpt, or of the last line of output with one; ""
    if there is none."""
    names = re.findall(r" \[([a-z][a-z-]*)\]$", text, re.MULTILINE)
    return names[-1] if names else ""


def table():
    """Returns the entries of the table: (number, identifier, name)."""
    text = TABLE.read_text(encoding="ascii")
    entries = re.findall(r'X\((\d+), (\w+), "([^"]*)"', text)
    return [(int(number), identifier, name) for number, identifier, name in entries]
