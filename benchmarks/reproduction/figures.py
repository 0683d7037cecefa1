# SPDX-License-Identifier: BSD-3-Clause
"""figures.py - figures 4.1 to 4.22: what each of them shows, and how it is drawn."""

from dataclasses import dataclass
from typing import Callable

from . import dissertation, drawing
from .costs import COMPRESSED, METHODS, PROTOCOLS, Quantity, Way
from .multicomputer import INSTANCES, SIZES

MILLI = 1000  # of a second: in 1993 all took seconds
NOT_MEASURED = "not measured in this run"
NO_CLL = "this build has no cll:\nnot measured"


@dataclass(frozen=True)
class Figure:
    """A figure of 1993, drawn anew. `draw`: Costs of today -> SVG."""

    number: str
    caption: str
    draw: Callable


def _sides(today):
    """(costs, unit, its name, title of the panel) of both."""
    before = dissertation.costs()
    return [(before, 1, "s", "1993"), (today, MILLI, "ms", "here")]


def _each(today, draw):
    """A function that draws into a grid: each side into its column."""

    def fill(grid):
        for column, side in enumerate(_sides(today)):
            draw([axes[column] for axes in grid], *side)

    return fill


def _over_heap(axes, costs, unit, pick, scale="linear"):
    """Lines over the size of merge sort, one for each method; pick(Cost) -> Quantity or
    None."""
    for method in METHODS:
        points = [
            (costs.megabytes[name], pick(costs.of(name, method=method)))
            for name in costs.sizes(method)
        ]
        points = [(at, one) for at, one in points if one is not None]
        if points:
            drawing.line(axes, points, drawing.METHOD_STYLES[method], method, unit)
    axes.set_xlabel("merge sort, MB of memory")
    axes.set_yscale(scale)
    drawing.show_grid(axes)
    if axes.get_legend_handles_labels()[0]:
        axes.legend()
    else:
        drawing.empty(axes, NOT_MEASURED)


def _times(today):
    def draw(axes, costs, unit, name, title):
        _over_heap(axes[0], costs, unit, lambda cost: cost.time, "log")
        drawing.title(axes[0], title)
        axes[0].set_ylabel(f"checkpoint time ({name})")

    return drawing.svg("4.1", 1, _each(today, draw), height=3.3)


def _share(cost):
    if cost.overhead is None:
        return None
    return Quantity(*[cost.overhead.value / cost.time.value] * 3)


def _overheads(today):
    def draw(axes, costs, unit, name, title):
        _over_heap(axes[0], costs, unit, lambda cost: cost.overhead)
        _over_heap(axes[1], costs, 100, _share)
        drawing.title(axes[0], title)
        axes[0].set_ylabel(f"overhead ({name})")
        axes[1].set_ylabel("overhead, % of the time")

    return drawing.svg("4.2", 2, _each(today, draw))


def _longest_faults(costs):
    """[(MB, Quantity)] of merge sort by cll, where ckpt tells."""
    if costs is dissertation.costs():
        rows = dissertation.rows("B.3")
        return [(at, Quantity(longest, longest, longest)) for at, _, longest in rows]
    found = []
    for name in costs.sizes("cll"):
        faults = costs.of(name, method="cll").faults
        longest = [one["fault_seconds"]["max"] for one in faults if "fault_seconds" in one]
        if longest:
            found.append((costs.megabytes[name], Quantity.of(longest)))
    return found


def _stop(cost):
    return Quantity.of(cost.stops) if cost.stops else None


def _latency(today):
    def draw(axes, costs, unit, name, title):
        _over_heap(axes[0], costs, unit, _stop, "log")
        faults = _longest_faults(costs)
        if faults:
            style = ("#bf616a", "v")
            drawing.line(axes[0], faults, style, "cll, longest page fault", unit)
        axes[0].axhline(0.1 * unit, color="#999999", linestyle=":", linewidth=1)
        if axes[0].get_legend():
            axes[0].legend()
        drawing.title(axes[0], title)
        axes[0].set_ylabel(f"standing still ({name})")

    return drawing.svg("4.3", 1, _each(today, draw), height=3.3)


def _page_sizes(today):
    def of_1993(axes):
        rows = dissertation.rows("B.4")
        sizes = [row[0] for row in rows]
        axes.loglog(sizes, [row[1] for row in rows], "o-", color="#5e81ac", markersize=4)
        axes.set_ylabel("page faults", color="#5e81ac")
        axes.set_xlabel("page (KB)")
        other = axes.twinx()
        other.loglog(sizes, [row[2] for row in rows], "v--", color="#bf616a", markersize=4)
        other.set_ylabel("the longest (s)", color="#bf616a")

    def of_today(axes):
        names = today.sizes("cll")
        points = [
            (today.megabytes[name], one["faults"])
            for name in names
            for one in today.of(name, method="cll").faults
        ]
        if not points:
            drawing.empty(axes, NO_CLL)
            return
        axes.plot(*zip(*points), "o", color="#5e81ac", markersize=4)
        axes.set_xlabel("merge sort, MB of memory (this build has one page size)")
        axes.set_ylabel("page faults")

    def fill(grid):
        for axes, draw, title in zip(grid[0], (of_1993, of_today), ("1993", "here")):
            draw(axes)
            drawing.title(axes, title)

    return drawing.svg("4.4", 1, fill, height=3.1)


def _others(today):
    def draw(axes, costs, unit, name, title):
        method = "cll" if costs.sizes("cll") else "cow"
        for panel, quantity in zip(axes, (costs.time, costs.overhead)):
            points = [
                (costs.megabytes[one], quantity(one, method=method))
                for one in costs.sizes(method)
            ]
            points = [(at, one) for at, one in points if one is not None]
            if not points:
                drawing.empty(panel, NOT_MEASURED)
                continue
            drawing.line(panel, points, ("#999999", "."), f"merge sort, {method}", unit)
            for index, one in enumerate(dissertation.THREADED):
                found = quantity(one, method=method)
                if found:
                    style = (f"C{index}", "ovs^"[index])
                    place = [(costs.megabytes[one], found)]
                    drawing.line(panel, place, style, one.replace("_", " "), unit)
            panel.legend()
            panel.set_xlabel("MB of memory")
            drawing.show_grid(panel)
        drawing.title(axes[0], f"{title}, {method}")
        axes[0].set_ylabel(f"checkpoint time ({name})")
        axes[1].set_ylabel(f"overhead ({name})")

    return drawing.svg("4.5", 2, _each(today, draw))


def _bars(number, ways, word):
    """Of the six instances of a_m_s; word: "time" or "overhead"."""

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

        return drawing.svg(number, 1, _each(today, draw), height=3.2)

    return draw_all


def _every_way(number, workloads):
    """One row of panels for each workload."""

    def draw_all(today):
        def draw(axes, costs, unit, name, title):
            for panel, workload in zip(axes, workloads):
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

        return drawing.svg(number, len(workloads), _each(today, draw), height=3.4)

    return draw_all


_PLAIN = [Way(protocol) for protocol in PROTOCOLS]
_MEMORY = [Way(protocol, "memory") for protocol in PROTOCOLS]
_BOTH = [way for pair in zip(_PLAIN, _MEMORY) for way in pair]


def _with_staggering(method):
    return [
        Way(protocol, method, staggered=staggered)
        for protocol in ("cl", "ns")
        for staggered in (False, True)
    ]


def _pair(first, caption, ways):
    """A figure of checkpoint times, and the next one of overheads."""
    numbers = [f"4.{first}", f"4.{first + 1}"]
    words = (("time", "checkpoint time"), ("overhead", "overhead"))
    return [
        Figure(number, f"{caption}: {label}", _bars(number, ways, word))
        for number, (word, label) in zip(numbers, words)
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
    Figure("4.1", "Checkpoint time of the multiprocessor algorithms", _times),
    Figure("4.2", "Overhead of the multiprocessor algorithms", _overheads),
    Figure(
        "4.3",
        "How long the program stands still; dotted: 0.1 s. 1993: of cll only. Its second"
        " graph, page faults over time, has no numbers in the dissertation",
        _latency,
    ),
    Figure("4.4", "Altering the page size of cll", _page_sizes),
    Figure("4.5", "Checkpoint time and overhead of the other programs", _others),
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


def latencies(today):
    """Not of 1993: the distribution of how long ranks stood still, by method."""

    def fill(grid):
        for axes, is_alone in zip(grid[0], (True, False)):
            _distribution(axes, today, is_alone)
            kind = "threads (section 4.1)" if is_alone else "messages (section 4.2)"
            drawing.title(axes, f"programs with {kind}")

    return drawing.svg("latency", 1, fill, height=3.1)


def _distribution(axes, today, is_alone):
    threaded = (*map(dissertation.merge_sort, dissertation.heaps()), *dissertation.THREADED)
    for method in METHODS:
        stops = sorted(
            MILLI * stop
            for (workload, way), cost in today.table.items()
            if way.method == method and (workload in threaded) == is_alone
            for stop in cost.stops
        )
        if stops:
            shares = [(at + 1) / len(stops) for at in range(len(stops))]
            colour = drawing.METHOD_STYLES[method][0]
            axes.step(stops, shares, where="post", color=colour, label=method)
    if not axes.lines:
        drawing.empty(axes, NOT_MEASURED)
        return
    axes.axvline(100, color="#999999", linestyle=":", linewidth=1)
    axes.set_xscale("log")
    axes.set_xlabel("a rank stands still, the longest of a checkpoint (ms)")
    axes.set_ylabel("share of the checkpoints")
    drawing.show_grid(axes)
    axes.legend()
