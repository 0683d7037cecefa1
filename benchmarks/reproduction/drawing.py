# SPDX-License-Identifier: BSD-3-Clause
"""drawing.py - panels of figures: lines over sizes, groups of bars, or all ways one
below the other; 1993 is always on the left, today on the right."""

import io
import math
import re

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (needs the choice)

from .costs import WAYS_1993  # noqa: E402

METHOD_STYLES = {
    "stop": ("#4c566a", "s"),
    "memory": ("#d08770", "^"),
    "cow": ("#5e81ac", "o"),
    "cll": ("#7a9a4f", "D"),
}
PROTOCOL_COLOURS = {"sns": "#4c566a", "cl": "#d08770", "ns": "#5e81ac"}
LIGHT, DARK, RED = "#b8c7db", "#2e4a6b", "#bf616a"
STYLE = {
    "svg.fonttype": "none",  # text stays text
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 8,
}


def svg(key, rows, draw, height=2.9, width=9.5, widths=(1, 1), share_y=False):
    """Returns an SVG element with two panels in each of the rows, which draw(grid)
    fills."""
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": key}):
        drawing, grid = pyplot.subplots(
            rows,
            2,
            figsize=(width, height * rows),
            squeeze=False,
            sharey="row" if share_y else "none",
            gridspec_kw={"width_ratios": widths},
            layout="constrained",
        )
        draw(grid)
        out = io.StringIO()
        drawing.savefig(out, format="svg", metadata={"Date": None})
        pyplot.close(drawing)
    return _with_own_names(key, out.getvalue())


def _with_own_names(key, text):
    """Makes the ids of elements unique, as many figures share a page; removes parts
    that only a file needs."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    name = "f" + re.sub(r"\W", "-", key) + "-"
    text = re.sub(r'\bid="', f'id="{name}', text)
    text = re.sub(r'xlink:href="#', f'xlink:href="#{name}', text)
    return text.replace("url(#", f"url(#{name}")


def title(axes, text):
    """Sets the title of a panel."""
    axes.set_title(text, loc="left", fontweight="bold")


def empty(axes, text):
    """Makes a panel without data, which says why."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    axes.text(
        0.5, 0.5, text, ha="center", va="center", wrap=True, transform=axes.transAxes
    )


def show_grid(axes, axis="y"):
    """Draws light grid lines."""
    axes.grid(True, axis=axis, color="#dddddd", linewidth=0.6)


def _error(quantities, unit):
    """Returns error bars from the least to the most."""
    return [
        [(one.value - one.least) * unit for one in quantities],
        [(one.most - one.value) * unit for one in quantities],
    ]


def line(axes, points, style, label, unit=1.0):
    """Draws a line of (x, Quantity), with its spread."""
    colour, marker = style
    axes.errorbar(
        [x for x, _ in points],
        [one.value * unit for _, one in points],
        yerr=_error([one for _, one in points], unit),
        color=colour,
        marker=marker,
        markersize=4,
        linewidth=1.2,
        capsize=2,
        label=label,
    )


def _bar_style(way, is_second):
    return {
        "color": PROTOCOL_COLOURS[way.protocol],
        "alpha": 0.55 if is_second else 1.0,
        "hatch": "///" if way.staggered else None,
        "edgecolor": "white",
        "linewidth": 0.4,
    }


def bars(axes, names, ways, quantity, unit):
    """Draws a group of bars for each name, with a bar for each way; values that were
    not measured have no bar. Returns False if all bars are missing."""
    width = 0.8 / len(ways)
    is_any = False
    for index, way in enumerate(ways):
        found = [(at, quantity(name, way)) for at, name in enumerate(names)]
        found = [(at, one) for at, one in found if one is not None]
        is_any = is_any or bool(found)
        is_second = way.method == "memory" and any(w.method == "stop" for w in ways)
        axes.bar(
            [at - 0.4 + (index + 0.5) * width for at, _ in found],
            [one.value * unit for _, one in found],
            width * 0.92,
            yerr=_error([one for _, one in found], unit) if found else None,
            error_kw={"elinewidth": 0.7, "ecolor": "#333333"},
            label=way.name(),
            **_bar_style(way, is_second),
        )
    axes.set_xticks(range(len(names)), [name.replace("-", "\n") for name in names])
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.6, len(names) - 0.4)
    show_grid(axes)
    return is_any


def _label_of(way):
    words = [way.protocol.upper(), "memory" if way.method == "memory" else ""]
    words += ["compressed" if way.codec != "none" else ""]
    words += ["staggered" if way.staggered else ""]
    return " ".join(filter(None, words))


def _overhead_bar(axes, at, overhead, unit, limits):
    """Draws an overhead with its spread. A value outside of the limits ends there, with
    a mark."""
    axes.barh(at, overhead.value * unit, 0.36, color=DARK)
    spread = [overhead.least * unit, overhead.most * unit]
    if not math.isclose(*spread):
        axes.plot(spread, [at, at], color=RED, linewidth=0.9)
    for limit, marker, is_out in (
        (limits[0], "<", overhead.value * unit < limits[0]),
        (limits[1], ">", overhead.value * unit > limits[1]),
    ):
        if is_out:
            axes.plot(limit, at, marker, color=RED, markersize=5, clip_on=False)


def all_ways(axes, cost_of, unit, has_labels):
    """Draws the twenty ways of 1993 below each other: the checkpoint time, and the
    overhead on top. Returns False if none has been measured."""
    costs = {at: cost_of(way) for at, way in enumerate(WAYS_1993)}
    costs = {at: cost for at, cost in costs.items() if cost is not None}
    if not costs:
        return False
    longest = unit * max(cost.time.value for cost in costs.values())
    limits = (-0.5 * longest, 1.5 * longest)
    for at, cost in costs.items():
        axes.barh(at, cost.time.value * unit, 0.8, color=LIGHT)
        if cost.overhead is not None:
            _overhead_bar(axes, at, cost.overhead, unit, limits)
    added = [one.overhead.value * unit for one in costs.values() if one.overhead]
    lowest = min(added, default=0)
    axes.set_xlim(max(limits[0], min(0.0, lowest)), limits[1])
    labels = [_label_of(way) for way in WAYS_1993] if has_labels else []
    axes.set_yticks(range(len(WAYS_1993)) if has_labels else [], labels)
    axes.set_ylim(len(WAYS_1993) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0, labelsize=7.5)
    show_grid(axes, "x")
    return True
