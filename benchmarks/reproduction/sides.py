# SPDX-License-Identifier: BSD-3-Clause
"""sides.py - the two sides of each figure: 1993 in seconds, here in milliseconds."""

from . import dissertation

MILLI = 1000  # of a second: in 1993 all took seconds
NOT_MEASURED = "not measured in this run"


def _sides(today):
    """Returns (costs, unit, its name, title of the panel) of both sides."""
    before = dissertation.costs()
    return [(before, 1, "s", "1993"), (today, MILLI, "ms", "here")]


def each(today, draw):
    """Returns a function that draws into a grid: each side into its column."""

    def fill(grid):
        for column, side in enumerate(_sides(today)):
            draw([axes[column] for axes in grid], *side)

    return fill
