# SPDX-License-Identifier: BSD-3-Clause
"""table.py - plain text tables and numbers for people."""

import statistics


def render(header, rows):
    """Returns a plain text table: columns as wide as needed, numbers as given,
    one line per row."""
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = [
        "  ".join(
            cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in cells
    ]
    return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:]])


def seconds(value):
    """0.0123 -> '12.3 ms'."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if value * factor >= 1:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def size(count):
    """Bytes in MiB."""
    return f"{count / 2**20:.1f} MiB"


def spread(values, show=seconds):
    """'median (min .. max)'."""
    middle = statistics.median(values)
    return f"{show(middle)} ({show(min(values))} .. {show(max(values))})"
