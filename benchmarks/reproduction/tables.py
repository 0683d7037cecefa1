# SPDX-License-Identifier: BSD-3-Clause
"""tables.py - tables 4.1 to 4.3, B and C, with the numbers of 1993 and of today. Each is (name,
caption, header, rows)."""

import statistics

from ckpttest import table

from . import dissertation
from .costs import COMPRESSED, METHODS, WAYS_1993
from .real_programs import names_best

NOTHING = "-"


def _milli(value):
    return f"{1000 * value:.0f} ms"


def shown(quantity, show=table.seconds):
    """Returns 'median (least .. most)', or one value."""
    if quantity is None:
        return NOTHING
    if quantity.least == quantity.most:
        return show(quantity.value)
    return f"{show(quantity.value)} ({show(quantity.least)} .. {show(quantity.most)})"


def added(quantity):
    """Returns the text of an overhead, which may be negative."""
    return shown(quantity, _milli)


def _then(quantity):
    return NOTHING if quantity is None else f"{quantity.value:g} s"


def _percent(share):
    return NOTHING if share is None else f"{100 * share:.0f} %"


def instances(data, today):
    """Returns table 4.1: a_m_s in 1993, and today."""
    runs = {}
    for run in data["runs"]:
        if run["kind"] == "without" and "error" not in run:
            runs.setdefault(run["workload"], []).append(run["own seconds"])
    rows = []
    for name, iterations, _, _, kilobytes, interval, seconds in dissertation.rows("4.1"):
        own = statistics.median(runs[name]) if name in runs else None
        rows.append(
            [
                name,
                f"{kilobytes} KB",
                f"{interval} s",
                f"{seconds} s",
                f"{today.megabytes[name]:.0f} MB" if name in today.megabytes else NOTHING,
                table.seconds(own / iterations) if own else NOTHING,
                table.seconds(own) if own else NOTHING,
            ]
        )
    header = ["instance", "1993: address space", "1993: interval", "1993: running time"]
    header += ["here: allocated", "here: interval", "here: running time"]
    return ("4.1", "Instances of a_m_s; with random bytes: *-RAND", header, rows)


def recovery(today):
    """Returns table 4.2."""
    before = dissertation.costs().recovery
    rows = []
    for name, codec in before:
        found = today.recovery.get((name, codec), (None, None))
        rows.append(
            [name, "yes" if codec == COMPRESSED else "no"]
            + [_then(one) for one in before[name, codec]]
            + [shown(one) for one in found]
        )
    header = ["instance", "compressed", "1993: checkpoint", "1993: recovery"]
    header += ["here: checkpoint", "here: recovery"]
    return (
        "4.2",
        "Recovery; here from `ckpt restart` until all ranks run again",
        header,
        rows,
    )


def ideal(today):
    """Returns table 4.3: the way that adds least."""
    rows = []
    for row in dissertation.rows("4.3"):
        for workload in row[-1] or ["(no example)"]:
            best, named, least = names_best(today, workload, row)
            rows.append(
                [
                    workload,
                    " ".join(str(word) for word in row[:4:2] if word),
                    " or ".join(row[4]).upper(),
                    *("yes" if word else "no" for word in row[5:8]),
                    best.name() if best else NOTHING,
                    added(least),
                    added(named),
                ]
            )
    header = ["program", "size, coupling", "1993: algorithm", "main memory", "staggered"]
    header += ["compressed", "here: adds least", "which is", "the way of 1993 adds"]
    return ("4.3", "Which way adds least to a run", header, rows)


def _heaps(number, title, quantity_of, show, today):
    before = dissertation.costs()
    rows = []
    for heap in dissertation.heaps():
        name = dissertation.merge_sort(heap)
        here = today.megabytes.get(name)
        rows.append(
            [f"{heap} MB"]
            + [_then(quantity_of(before)(name, method=one)) for one in METHODS]
            + [NOTHING if here is None else f"{here} MB"]
            + [show(quantity_of(today)(name, method=one)) for one in METHODS]
        )
    header = ["1993: heap", *(f"1993: {one}" for one in METHODS), "here: heap"]
    return (number, title, [*header, *(f"here: {one}" for one in METHODS)], rows)


def _latency(today):
    rows = []
    for heap, stop, fault in dissertation.rows("B.3"):
        name = dissertation.merge_sort(heap)
        found = [today.of(name, method=one) for one in METHODS]
        rows.append(
            [f"{heap} MB", f"{stop} s", f"{fault} s"]
            + [table.spread(cost.stops) if cost else NOTHING for cost in found]
        )
    header = ["1993: heap", "1993: cll, initial stop", "1993: longest page fault"]
    header += [f"here: {one}, standing still" for one in METHODS]
    return ("B.3", "Latency of merge sort", header, rows)


def _page_sizes():
    rows = [
        [f"{size} KB", count, f"{longest} s"]
        for size, count, longest in dissertation.rows("B.4")
    ]
    header = ["1993: page", "1993: faults", "1993: the longest"]
    return ("B.4", "Page size of cll, of 1993 only", header, rows)


def _others(today):
    before = dissertation.costs()
    rows = []
    for name in dissertation.THREADED:
        then = before.of(name, method="cll")
        line = [name, f"{before.megabytes[name]} MB", _then(then.time), _then(then.overhead)]
        for method in METHODS:
            line += [
                shown(today.time(name, method=method)),
                added(today.overhead(name, method=method)),
            ]
        rows.append(line)
    header = ["program", "1993: heap", "1993: cll, time", "1993: cll, overhead"]
    for method in METHODS:
        header += [f"here: {method}, time", f"here: {method}, overhead"]
    return ("B.5", "Other test programs", header, rows)


def multiprocessor(today):
    """Returns the tables of appendix B."""
    return [
        _heaps("B.1", "Checkpoint time of merge sort", lambda c: c.time, shown, today),
        _heaps("B.2", "Overhead of merge sort", lambda c: c.overhead, added, today),
        _latency(today),
        _page_sizes(),
        _others(today),
    ]


COST_HEADER = ["time", "overhead", "concurrency", "a rank stands still", "bytes"]


def _cost_cells(cost):
    """Returns the cells of a cost of today."""
    if cost is None:
        return [NOTHING] * len(COST_HEADER)
    return [
        shown(cost.time),
        added(cost.overhead),
        _percent(cost.concurrency()),
        table.spread(cost.stops),
        shown(cost.bytes, table.size),
    ]


def multicomputer(today):
    """Returns appendix C, a table for each program; every_way() has the programs without numbers of
    1993."""
    before = dissertation.costs()
    for number, known in dissertation.data()["tables"].items():
        if "workload" not in known:
            continue
        workload = known["workload"]
        rows = []
        for way in WAYS_1993:
            then = before.table[workload, way]
            rows.append(
                [way.name(), _then(then.time), _then(then.overhead)]
                + [_percent(then.concurrency())]
                + _cost_cells(today.table.get((workload, way)))
            )
        header = ["way", "1993: time", "1993: overhead", "1993: concurrency"]
        header += [f"here: {word}" for word in COST_HEADER]
        yield (number, workload, header, rows)


def every_way(today):
    """Returns all measurements, including the methods and codecs that 1993 did not have."""
    rows = [
        [workload, way.name(), *_cost_cells(cost)]
        for (workload, way), cost in today.table.items()
    ]
    return ("all", "Everything measured", ["program", "way", *COST_HEADER], rows)


def all_of(data, today):
    """Returns every table."""
    return [
        instances(data, today),
        recovery(today),
        ideal(today),
        *multiprocessor(today),
        *multicomputer(today),
        every_way(today),
    ]
