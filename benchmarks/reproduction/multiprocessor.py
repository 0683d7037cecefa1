# SPDX-License-Identifier: BSD-3-Clause
"""multiprocessor.py - the conclusions of section 4.1: programs with threads."""

import itertools

from . import dissertation
from .costs import Quantity, Way, is_less
from .judging import Conclusion, known

TENTH = Quantity(0.1, 0.1, 0.1)  # of a second: unnoticeable to a user
COPY_FITS = max(row[0] for row in dissertation.rows("B.2"))  # MB of the Firefly's 16
SMALL = 3.0  # MB of the Firefly's 16
OPTIMAL = 1.5  # times the sequential algorithm's checkpoint time
CONCURRENT = 0.8
NEAR = 1.5  # a factor between about equal times


def _heaps(limit=COPY_FITS):
    """Returns the sizes whose copy fits into memory, in 1993 and therefore today."""
    return [dissertation.merge_sort(heap) for heap in dissertation.heaps() if heap <= limit]


def _pairs(costs, quantity, less, more):
    """Yields at each size whether the first of two methods takes less."""
    for workload in _heaps():
        own = [quantity(workload, method=method) for method in (less, more)]
        if known(*own):
            yield is_less(*own)


def proportional(costs):
    """Compares each two successive sizes: the larger must take longer."""
    for method in dissertation.MULTIPROCESSOR:
        names = [name for name in costs.sizes(method) if name in _heaps()]
        for small, large in itertools.pairwise(names):
            yield is_less(
                costs.time(small, method=method), costs.time(large, method=method)
            )


def sequential_is_fastest(costs):
    """Compares its checkpoint time with each other method's."""
    for method in ("memory", "cll", "cow"):
        yield from _pairs(costs, costs.time, "stop", method)


def cll_is_next(costs):
    """Compares its checkpoint time with the methods that copy everything first."""
    for method in ("memory", "cow"):
        yield from _pairs(costs, costs.time, "cll", method)


def copy_on_write_adds_least(costs):
    """Compares overheads of cow and cll with those of stop and memory."""
    for less in ("cow", "cll"):
        for more in ("stop", "memory"):
            yield from _pairs(costs, costs.overhead, less, more)


def memory_adds_less(costs):
    """Compares the overhead of memory with that of stop."""
    return _pairs(costs, costs.overhead, "memory", "stop")


def near_optimal(costs):
    """Compares the time of cll with that of stop."""
    for workload in _heaps():
        own = [costs.time(workload, method=method) for method in ("cll", "stop")]
        if known(*own):
            yield is_less(*own, OPTIMAL)


def concurrent(costs):
    """Compares the overhead of cll with a fifth of its time."""
    for workload in _heaps():
        cost = costs.of(workload, method="cll")
        if cost and cost.overhead:
            yield is_less(cost.overhead, cost.time, 1 - CONCURRENT)


def _is_perceived(cost):
    return is_less(TENTH, Quantity.of(cost.stops)) is True


def short_stop(costs):
    """Checks the initial stop of small address spaces."""
    for workload in _heaps(SMALL):
        cost = costs.of(workload, method="cll")
        if cost and cost.stops:
            yield not _is_perceived(cost)


def cow_stops_shortly(costs):
    """Checks how long programs stand still with cow, at each size."""
    for workload in _heaps():
        cost = costs.of(workload, method="cow")
        if cost and cost.stops:
            yield not _is_perceived(cost)


def short_faults(costs):
    """Checks the longest wait for a page, at each size."""
    if costs is dissertation.costs():
        return [longest < TENTH.value for _, _, longest in dissertation.rows("B.3")]
    return [
        faults["most"] < TENTH.value
        for workload in map(dissertation.merge_sort, dissertation.heaps())
        if (cost := costs.of(workload, method="cll"))
        for faults in cost.faults
    ]


def _line(costs, method, quantity, megabytes):
    """Returns the value for a merge sort of this many megabytes: interpolated between its
    neighbours, or the value at the end."""
    points = [
        (costs.megabytes[name], found.value)
        for name in costs.sizes(method)
        if name in _heaps() and (found := quantity(name, method=method))
    ]
    if len(points) < 2:
        return None
    place = sum(at < megabytes for at, _ in points[1:-1])
    (x0, y0), (x1, y1) = points[place], points[place + 1]
    value = y0 + (megabytes - x0) * (y1 - y0) / (x1 - x0)
    return Quantity(value, value, value) if value > 0 else None


def _method(costs):
    """Returns cll; for today cow where the build has no cll."""
    has_cll = any(way == Way(method="cll") for _, way in costs.table)
    return "cll" if has_cll else "cow"


def _beside_merge_sort(costs, quantity):
    method = _method(costs)
    for name in dissertation.THREADED:
        own = quantity(name, method=method)
        if known(own):
            line = _line(costs, method, quantity, costs.megabytes[name])
            if line:
                yield own, line


def by_heap_only(costs):
    """Compares checkpoint times with a merge sort of the same size."""
    for own, line in _beside_merge_sort(costs, costs.time):
        yield line.value / NEAR <= own.value <= line.value * NEAR


def merge_sort_is_worst(costs):
    """Compares overheads with a merge sort of the same size."""
    for own, line in _beside_merge_sort(costs, costs.overhead):
        yield is_less(own, line)


CONCLUSIONS = (
    Conclusion(
        "heap",
        ("4.1",),
        "In all four algorithms checkpoint time grows with the size of the address space.",
        "Of each two sizes in sequence whose copy fits into memory the larger takes longer.",
        proportional,
    ),
    Conclusion(
        "sequential",
        ("4.1",),
        "The sequential algorithm has the shortest checkpoint time.",
        "stop takes less time than each other method, at each size.",
        sequential_is_fastest,
    ),
    Conclusion(
        "cll-next",
        ("4.1",),
        "CLL is next: main memory and copy-on-write wait for a complete copy.",
        "cll takes less time than memory, and than cow, at each size.",
        cll_is_next,
    ),
    Conclusion(
        "memory-adds",
        ("4.2",),
        "Main memory checkpointing adds less to a run than the sequential algorithm.",
        "The overhead of memory is less than that of stop, at each size.",
        memory_adds_less,
    ),
    Conclusion(
        "cow-adds",
        ("4.2",),
        "The algorithms that copy on write add least.",
        "The overheads of cow and cll are less than those of stop and memory, at each size.",
        copy_on_write_adds_least,
    ),
    Conclusion(
        "concurrent",
        ("4.2",),
        "80 to 90% of a checkpoint by CLL runs beside the program.",
        "The overhead of cll is at most a fifth of its time, at half of the sizes or more.",
        concurrent,
        0.5,
    ),
    Conclusion(
        "optimal",
        ("4.1", "4.5"),
        "The checkpoint time of CLL is within 50% of the sequential algorithm's.",
        f"cll takes at most {OPTIMAL} times as long as stop, at each size.",
        near_optimal,
    ),
    Conclusion(
        "stop",
        ("4.3",),
        "Up to three of 16 megabytes the initial stop of CLL is at most 0.1 s.",
        "In the median the program stands still for 0.1 s or less with cll, at these sizes.",
        short_stop,
    ),
    Conclusion(
        "cow-stop",
        ("4.3",),
        "Copy on write and CLL interrupt the target only for small periods of time (5.1.4).",
        "In the median the program stands still for 0.1 s or less with cow, at each size."
        " Of 1993 there are numbers of CLL only.",
        cow_stops_shortly,
    ),
    Conclusion(
        "faults",
        ("4.3",),
        "For all sizes the longest page fault is well below 0.1 s.",
        "No program waits for a page for 0.1 s or more, in any checkpoint by cll.",
        short_faults,
        1.0,
    ),
    Conclusion(
        "heap-only",
        ("4.5",),
        "Checkpoint time depends on the size of the heap, not on the program.",
        f"The other four programs are within a factor of {NEAR} of a merge sort of their"
        " size, by cll; by cow where the build has no cll.",
        by_heap_only,
    ),
    Conclusion(
        "worst",
        ("4.5",),
        "Merge sort is the worst case for the overhead, as it writes at random.",
        "The overheads of the other four programs are less than that of a merge sort of"
        " their size, by cll; by cow where the build has no cll.",
        merge_sort_is_worst,
    ),
)
