# SPDX-License-Identifier: BSD-3-Clause
"""dissertation.py - the numbers of 1993, from plank_1993.json."""

import functools
import json
from pathlib import Path

from .costs import COMPRESSED, Cost, Costs, Quantity, Way

PATH = Path(__file__).with_name("plank_1993.json")
REAL = ("genetic", "sparse", "gauss", "fourier", "molecules", "equations")
THREADED = {
    "travelling_salesman": "Travelling Salesman",
    "matrix_product": "Matrix Multiplication",
    "pattern_matching": "Pattern Match",
    "bubble_sort": "Bubble Sort",
}
MULTIPROCESSOR = ("stop", "memory", "cll", "cow")  # columns of tables B.1 and B.2


@functools.cache
def data():
    """Returns the whole file."""
    return json.loads(PATH.read_text(encoding="utf-8"))


def table(name):
    """Returns {"title", "columns", "rows", ...} of table B.1, for example."""
    return data()["tables"][name]


def rows(name):
    """Returns the rows of a table."""
    return table(name)["rows"]


def merge_sort(heap):
    """Returns the name of an instance of merge sort, by its megabytes in 1993."""
    return f"merge_sort-{heap}"


def heaps():
    """Returns the sizes of merge sort, in megabytes of 1993; the machine had 16."""
    return [row[0] for row in rows("B.1")]


def program(workload):
    """Returns {column: value} of one of the real programs."""
    columns = table("4.17-4.22")["columns"]
    (row,) = (row for row in rows("4.17-4.22") if row[0] == workload)
    return dict(zip(columns, row, strict=True))


def _one(value):
    return Quantity(value, value, value)


def _add_multiprocessor(costs):
    overheads = {row[0]: row[1:] for row in rows("B.2")}
    stops = {row[0]: row[1] for row in rows("B.3")}
    for heap, *times in rows("B.1"):
        workload = merge_sort(heap)
        costs.megabytes[workload] = heap
        added = overheads.get(heap, [None] * len(times))
        for method, time, extra in zip(MULTIPROCESSOR, times, added, strict=True):
            costs.table[workload, Way(method=method)] = Cost(
                _one(time),
                None if extra is None else _one(extra),
                stops=(stops[heap],) if method == "cll" else (),
            )
    for name, heap, time, extra in rows("B.5"):
        (workload,) = (key for key, value in THREADED.items() if value == name)
        costs.megabytes[workload] = heap
        costs.table[workload, Way(method="cll")] = Cost(_one(time), _one(extra))


def _add_multicomputer(costs):
    for found in data()["tables"].values():
        if "workload" not in found:
            continue
        for protocol, method, compressed, staggered, time, extra in found["rows"]:
            codec = COMPRESSED if compressed else "none"
            way = Way(protocol, method, codec, staggered)
            costs.table[found["workload"], way] = Cost(_one(time), _one(extra))
    for name, save, restart, save_small, restart_small in rows("4.2"):
        costs.recovery[name, "none"] = (_one(save), _one(restart))
        costs.recovery[name, COMPRESSED] = (_one(save_small), _one(restart_small))


@functools.cache
def costs():
    """Returns all costs of 1993."""
    found = Costs("1993")
    _add_multiprocessor(found)
    _add_multicomputer(found)
    return found
