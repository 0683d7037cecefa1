# SPDX-License-Identifier: BSD-3-Clause
"""size_figures.py - draws the figures of section 4.1, over the size of memory, and the distribution
of latencies."""

from . import dissertation, drawing
from .costs import METHODS, Quantity
from .sides import MILLI, NOT_MEASURED, each

NO_FAULTS = "ckpt tells of no page faults of cll:\nnot measured"


def _over_heap(axes, costs, unit, pick, scale="linear"):
    """Draws lines over the size of merge sort, one for each method; pick(Cost) -> Quantity or
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


def times(today):
    """Draws figure 4.1."""

    def draw(axes, costs, unit, name, title):
        _over_heap(axes[0], costs, unit, lambda cost: cost.time, "log")
        drawing.title(axes[0], title)
        axes[0].set_ylabel(f"checkpoint time ({name})")

    return drawing.svg("4.1", 1, each(today, draw), height=3.3)


def _share(cost):
    if cost.overhead is None:
        return None
    return Quantity(*[cost.overhead.value / cost.time.value] * 3)


def overheads(today):
    """Draws figure 4.2."""

    def draw(axes, costs, unit, name, title):
        _over_heap(axes[0], costs, unit, lambda cost: cost.overhead)
        _over_heap(axes[1], costs, 100, _share)
        drawing.title(axes[0], title)
        axes[0].set_ylabel(f"overhead ({name})")
        axes[1].set_ylabel("overhead, % of the time")

    return drawing.svg("4.2", 2, each(today, draw))


def _longest_faults(costs):
    """Returns [(MB, Quantity)] of merge sort by cll, where ckpt reports it."""
    if costs is dissertation.costs():
        rows = dissertation.rows("B.3")
        return [(at, Quantity(longest, longest, longest)) for at, _, longest in rows]
    found = []
    for name in costs.sizes("cll"):
        faults = costs.of(name, method="cll").faults
        longest = [one["most"] for one in faults]
        if longest:
            found.append((costs.megabytes[name], Quantity.of(longest)))
    return found


def _stop(cost):
    return Quantity.of(cost.stops) if cost.stops else None


def latency(today):
    """Draws figure 4.3."""

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

    return drawing.svg("4.3", 1, each(today, draw), height=3.3)


def page_sizes(today):
    """Draws figure 4.4."""

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
            (today.megabytes[name], one["count"])
            for name in names
            for one in today.of(name, method="cll").faults
        ]
        if not points:
            drawing.empty(axes, NO_FAULTS)
            return
        axes.plot(*zip(*points, strict=True), "o", color="#5e81ac", markersize=4)
        axes.set_xlabel("merge sort, MB of memory (this build has one page size)")
        axes.set_ylabel("page faults")

    def fill(grid):
        for axes, draw, title in zip(grid[0], (of_1993, of_today), ("1993", "here"), strict=True):
            draw(axes)
            drawing.title(axes, title)

    return drawing.svg("4.4", 1, fill, height=3.1)


def others(today):
    """Draws figure 4.5."""

    def draw(axes, costs, unit, name, title):
        method = "cll" if costs.sizes("cll") else "cow"
        for panel, quantity in zip(axes, (costs.time, costs.overhead), strict=True):
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

    return drawing.svg("4.5", 2, each(today, draw))


def latencies(today):
    """Draws a figure that 1993 did not have: the distribution of the ranks' stops, by method."""

    def fill(grid):
        for axes, is_alone in zip(grid[0], (True, False), strict=True):
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
