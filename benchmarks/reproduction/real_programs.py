# SPDX-License-Identifier: BSD-3-Clause
"""real_programs.py - the conclusions of sections 4.2.9 and 4.2.10: which way is the best."""

from . import dissertation
from .costs import COMPRESSED, Quantity, is_less
from .judging import Conclusion
from .multicomputer import INSTANCES, RANDOM

TWO_MINUTES = 120  # seconds
NEARLY_BEST = 1.25  # a factor


def _overheads(costs, workload):
    """Returns {Way: Quantity} of the known overheads of a workload, for the ways of 1993."""
    return {
        way: cost.overhead
        for (name, way), cost in costs.table.items()
        if name == workload
        and cost.overhead
        and way.codec in ("none", COMPRESSED)
        and way.method in ("stop", "memory")
    }


def _value(quantity):
    return quantity.value


def _are_nearly_best(own, overheads):
    """Whether the least of `own` is about the least of all; None if all are about equal."""
    best, least = min(own, key=_value), min(overheads, key=_value)
    most = max(overheads, key=_value)
    if is_less(least, most) is None:
        return None
    if best.value == least.value:
        return True
    more = is_less(least, best, 1 / NEARLY_BEST)
    return None if more is None else not more


def ns_is_best(costs):
    """Compares the least overhead of NS with the least of all ways."""
    for name in dissertation.REAL:
        overheads = _overheads(costs, name)
        own = [added for way, added in overheads.items() if way.protocol == "ns"]
        if own and len(own) < len(overheads):
            yield _are_nearly_best(own, overheads.values())


def _is_named(way, row):
    _, _, _, _, protocols, memory, staggered, compressed, _ = row
    return (
        way.protocol in protocols
        and (way.method == "memory") == memory
        and way.staggered == staggered
        and (way.codec == COMPRESSED) == compressed
    )


def names_best(costs, workload, row):
    """Returns (the Way that adds least, the least of the ways in a row of table 4.3, the least of
    all); None for an unknown value."""
    overheads = _overheads(costs, workload)
    own = [added for way, added in overheads.items() if _is_named(way, row)]
    best = min(overheads, key=lambda way: overheads[way].value, default=None)
    return best, min(own, key=_value, default=None), overheads.get(best)


def table_names_the_best(costs):
    """Compares the least overhead of the ways in table 4.3 with the least of all."""
    for row in dissertation.rows("4.3"):
        for workload in row[-1]:
            overheads = _overheads(costs, workload)
            own = [added for way, added in overheads.items() if _is_named(way, row)]
            if own and len(own) < len(overheads):
                yield _are_nearly_best(own, overheads.values())


def all_in_two_minutes(costs):
    """Checks every checkpoint time of programs that pass messages."""
    limit = Quantity(TWO_MINUTES, TWO_MINUTES, TWO_MINUTES)
    for (name, _), cost in costs.table.items():
        if name in (*INSTANCES, *RANDOM, *dissertation.REAL):
            yield is_less(cost.time, limit)


CONCLUSIONS = (
    Conclusion(
        "ns-best",
        ("4.17", "4.18", "4.19", "4.20", "4.21", "4.22"),
        "Network sweeping is the best algorithm for all applications.",
        f"The way with NS that adds least adds at most {NEARLY_BEST} times what the best of"
        " all ways adds, for two thirds of the real programs.",
        ns_is_best,
        2 / 3,
    ),
    Conclusion(
        "ideal",
        ("table 4.3",),
        "The characteristics of a program determine which algorithm works best.",
        f"The best way that table 4.3 names for a program adds at most {NEARLY_BEST} times"
        " what the best of all ways adds, for two thirds of the programs.",
        table_names_the_best,
        2 / 3,
    ),
    Conclusion(
        "two-minutes",
        ("4.14", "4.15", "4.16", "4.17", "4.18", "4.19", "4.20", "4.21", "4.22"),
        "Every checkpoint takes less than two minutes (5.1.2).",
        "Each median of times does.",
        all_in_two_minutes,
        1.0,
    ),
)
