# SPDX-License-Identifier: BSD-3-Clause
"""figures.py - figures 4.1 to 4.22: the content of each, and how to draw those of section 4.2."""

from dataclasses import dataclass
from typing import Callable

from . import dissertation, drawing, size_figures
from .costs import COMPRESSED, PROTOCOLS, Way
from .multicomputer import INSTANCES, SIZES
from .sides import NOT_MEASURED, each


@dataclass(frozen=True)
class Figure:
    """A figure of 1993, drawn again. `draw`: Costs of today -> SVG."""

    number: str
    caption: str
    draw: Callable


def _bars(number, ways, word):
    """Returns a figure of the six instances of a_m_s; word: "time" or "overhead"."""

    def draw_all(today):
        def draw(axes, costs, unit, name, title):
            def quantity(workload, way):
                cost = costs.table.get((workload, way))
                return cost and getattr(cost, word)

            if not drawing.bars(axes[0], INSTANCES, ways, quantity, unit):
                axes[0].clear()
                drawing.empty(axes[0], NOT_MEASURED)
            elif costs is not today:
                axes[0].margins(y=0.3)
                axes[0].legend(loc="upper left", ncols=3)
            drawing.title(axes[0], title)
            label = "checkpoint time" if word == "time" else "overhead"
            axes[0].set_ylabel(f"{label} ({name})")

        return drawing.svg(number, 1, each(today, draw), height=3.2)

    return draw_all


def _every_way(number, workloads):
    """Returns a figure with one row of panels for each workload."""

    def draw_all(today):
        def draw(axes, costs, unit, name, title):
            for panel, workload in zip(axes, workloads, strict=True):
                is_any = drawing.all_ways(
                    panel,
                    lambda way, workload=workload: costs.table.get((workload, way)),
                    unit,
                    costs is not today,
                )
                if not is_any:
                    panel.clear()
                    drawing.empty(panel, NOT_MEASURED)
                drawing.title(panel, f"{workload}, {title} ({name})")

        return drawing.svg(number, len(workloads), each(today, draw), height=3.4)

    return draw_all


_PLAIN = [Way(protocol) for protocol in PROTOCOLS]
_MEMORY = [Way(protocol, "memory") for protocol in PROTOCOLS]
_BOTH = [way for pair in zip(_PLAIN, _MEMORY, strict=True) for way in pair]


def _with_staggering(method):
    return [
        Way(protocol, method, staggered=staggered)
        for protocol in ("cl", "ns")
        for staggered in (False, True)
    ]


def _pair(first, caption, ways):
    """Returns a figure of checkpoint times, and the next one of overheads."""
    numbers = [f"4.{first}", f"4.{first + 1}"]
    words = (("time", "checkpoint time"), ("overhead", "overhead"))
    return [
        Figure(number, f"{caption}: {label}", _bars(number, ways, word))
        for number, (word, label) in zip(numbers, words, strict=True)
    ]


def _instances(ending):
    return [f"{size}-{ending}" for size in SIZES]


_IN_ALL_WAYS = (
    "light: checkpoint time, dark: overhead, red: its spread, or that it is out of the"
    f" picture; compressed is {COMPRESSED} here"
)


def _programs():
    for workload in dissertation.REAL:
        known = dissertation.program(workload)
        yield Figure(
            known["figure"],
            f"{known['name']}: {_IN_ALL_WAYS}",
            _every_way(known["figure"], [workload]),
        )


FIGURES = [
    Figure("4.1", "Checkpoint time of the multiprocessor algorithms", size_figures.times),
    Figure("4.2", "Overhead of the multiprocessor algorithms", size_figures.overheads),
    Figure(
        "4.3",
        "How long the program stands still; dotted: 0.1 s. 1993: of cll only. Its second"
        " graph, page faults over time, has no numbers in the dissertation",
        size_figures.latency,
    ),
    Figure("4.4", "Altering the page size of cll", size_figures.page_sizes),
    Figure("4.5", "Checkpoint time and overhead of the other programs", size_figures.others),
    *_pair(6, "The basic algorithms", _PLAIN),
    *_pair(8, "Staggering", _with_staggering("stop")),
    *_pair(10, "Main memory checkpointing", _BOTH),
    *_pair(12, "Staggering main memory checkpoints", _with_staggering("memory")),
    Figure("4.14", f"IND: {_IN_ALL_WAYS}", _every_way("4.14", _instances("IND"))),
    Figure("4.15", f"SYNC: {_IN_ALL_WAYS}", _every_way("4.15", _instances("SYNC"))),
    Figure(
        "4.16", f"Random bytes: {_IN_ALL_WAYS}", _every_way("4.16", _instances("IND-RAND"))
    ),
    *_programs(),
]
