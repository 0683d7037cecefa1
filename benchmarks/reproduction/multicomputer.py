# SPDX-License-Identifier: BSD-3-Clause
"""multicomputer.py - the conclusions of sections 4.2.4 to 4.2.8: a_m_s."""

import itertools

from .costs import COMPRESSED, PROTOCOLS, is_less
from .judging import Conclusion, known

SIZES = ("SMALL", "MED", "LARGE")
COUPLINGS = ("IND", "SYNC")
INSTANCES = tuple(f"{size}-{coupling}" for coupling in COUPLINGS for size in SIZES)
ABOUT_EQUAL = 1.25  # a factor
HALF = 0.5
RANDOM = ("MED-IND-RAND", "LARGE-IND-RAND", "MED-SYNC-RAND", "LARGE-SYNC-RAND")
STAGGERING = ("cl", "ns")


def _of(names):
    return [name for name in INSTANCES if name.startswith(names)]


def _compare(a, b, factor=1.0):
    """Returns one comparison, or none if one of the two has not been measured."""
    return [is_less(a, b, factor)] if known(a, b) else []


def equal_times(costs):
    """Compares the longest time of the three algorithms with the shortest."""
    for name in INSTANCES:
        times = [costs.time(name, protocol) for protocol in PROTOCOLS]
        if known(*times):
            by_value = sorted(times, key=lambda time: time.value)
            yield is_less(by_value[-1], by_value[0], ABOUT_EQUAL)


def sns_adds_most(costs):
    """Compares its overhead with the smaller of the others' overheads."""
    for name in INSTANCES:
        sns, *others = (costs.overhead(name, protocol) for protocol in PROTOCOLS)
        if known(sns, *others):
            yield is_less(min(others, key=lambda other: other.value), sns)


def grows(costs):
    """Compares the times of each two successive sizes."""
    for coupling in COUPLINGS:
        for small, large in itertools.pairwise(SIZES):
            for protocol in PROTOCOLS:
                yield from _compare(
                    costs.time(f"{small}-{coupling}", protocol),
                    costs.time(f"{large}-{coupling}", protocol),
                )


def _staggered(costs, quantity, names, protocols=STAGGERING, **more):
    """Yields (not staggered, staggered) of each instance and algorithm that has both."""
    for name in names:
        for protocol in protocols:
            both = [
                quantity(name, protocol, staggered=staggered, **more)
                for staggered in (False, True)
            ]
            if known(*both):
                yield both


def staggered_take_longer(costs):
    """Compares times, staggered and not."""
    for plain, staggered in _staggered(costs, costs.time, INSTANCES):
        yield is_less(plain, staggered)


def staggering_spares_loose(costs):
    """Compares overheads of NS on independent ranks."""
    names = [name for name in INSTANCES if name.endswith("IND")]
    for plain, staggered in _staggered(costs, costs.overhead, names, ("ns",)):
        yield is_less(staggered, plain)


def staggering_hurts_tight(costs):
    """Compares overheads on ranks that synchronise."""
    names = [name for name in INSTANCES if name.endswith("SYNC")]
    for plain, staggered in _staggered(costs, costs.overhead, names):
        yield is_less(plain, staggered)


def ns_staggers_more(costs):
    """Compares staggered NS with staggered CL, on independent ranks."""
    for name in INSTANCES:
        if name.endswith("IND"):
            yield from _compare(
                costs.overhead(name, "ns", staggered=True),
                costs.overhead(name, "cl", staggered=True),
            )


def _memory(costs, quantity, names):
    """Yields (stop, memory) of each instance and algorithm."""
    for name in names:
        for protocol in PROTOCOLS:
            both = [quantity(name, protocol, method) for method in ("stop", "memory")]
            if known(*both):
                yield both


def memory_takes_longer(costs):
    """Compares times where the copy fits."""
    for stop, memory in _memory(costs, costs.time, _of(("SMALL", "MED"))):
        yield is_less(stop, memory)


def memory_adds_less(costs):
    """Compares overheads where the copy fits."""
    for stop, memory in _memory(costs, costs.overhead, _of(("SMALL", "MED"))):
        yield is_less(memory, stop, 0.75)


def memory_helps_little(costs):
    """Compares overheads of the large instances."""
    for stop, memory in _memory(costs, costs.overhead, _of("LARGE")):
        less = is_less(memory, stop, 0.75)
        yield None if less is None else not less


def _compressed(costs, quantity, names):
    """Yields (uncompressed, compressed) of each instance and way that is not staggered."""
    for name in names:
        for protocol in PROTOCOLS:
            for method in ("stop", "memory"):
                both = [
                    quantity(name, protocol, method, codec)
                    for codec in ("none", COMPRESSED)
                ]
                if known(*both):
                    yield both


def zeros_take_less(costs):
    """Compares times of instances with zeros."""
    for plain, small in _compressed(costs, costs.time, _of(("MED", "LARGE"))):
        yield is_less(small, plain, HALF)


def random_takes_longer(costs):
    """Compares times of instances with random bytes."""
    for plain, small in _compressed(costs, costs.time, RANDOM):
        yield is_less(plain, small)


def compressed_stagger_takes_long(costs):
    """Compares staggered NS with compression with the same not staggered."""
    for plain, staggered in _staggered(
        costs, costs.time, _of(("MED", "LARGE")), ("ns",), codec=COMPRESSED
    ):
        yield is_less(plain, staggered, HALF)


def recovery_as_long(costs):
    """Compares recovery with the checkpoint time."""
    for saved, restart in costs.recovery.values():
        ratio = restart.value / saved.value
        yield 1 / 1.3 <= ratio <= 1.3


def recovery_gains(costs):
    """Compares recovery with compression and without."""
    for name in _of(("MED", "LARGE")):
        both = [costs.recovery.get((name, codec)) for codec in (COMPRESSED, "none")]
        if known(*both):
            yield is_less(both[0][1], both[1][1])


CONCLUSIONS = (
    Conclusion(
        "equal",
        ("4.6",),
        "The checkpoint times of the three basic algorithms are about the same.",
        f"The longest of the three is at most {ABOUT_EQUAL} times the shortest, for each"
        " instance.",
        equal_times,
    ),
    Conclusion(
        "grows",
        ("4.6",),
        "Checkpoint times grow with the address space.",
        "SMALL takes less than MED, and MED less than LARGE, by each algorithm.",
        grows,
    ),
    Conclusion(
        "sns-adds",
        ("4.7",),
        "The overhead of SNS is slightly higher than that of the other two.",
        "The overhead of the better one of CL and NS is less, for each instance.",
        sns_adds_most,
    ),
    Conclusion(
        "stagger-time",
        ("4.8",),
        "Staggering increases the checkpoint time.",
        "CL and NS take longer when staggered, for each instance.",
        staggered_take_longer,
    ),
    Conclusion(
        "stagger-loose",
        ("4.9",),
        "Staggering NS decreases the overhead of independent processors.",
        "NS adds less when staggered, for each IND instance.",
        staggering_spares_loose,
    ),
    Conclusion(
        "stagger-tight",
        ("4.9",),
        "Staggering increases the overhead of processors that synchronise.",
        "CL and NS add more when staggered, for each SYNC instance.",
        staggering_hurts_tight,
    ),
    Conclusion(
        "ns-staggers",
        ("4.9",),
        "NS staggers independent processors to a greater degree than CL.",
        "Staggered NS adds less than staggered CL, for each IND instance.",
        ns_staggers_more,
    ),
    Conclusion(
        "memory-time",
        ("4.10",),
        "Where the copy fits into memory, main memory checkpoints take longer.",
        "memory takes longer than stop, for each SMALL and MED instance and algorithm.",
        memory_takes_longer,
    ),
    Conclusion(
        "memory-fits",
        ("4.11",),
        "Where the copy fits, main memory checkpointing reduces the overhead dramatically.",
        "memory adds less than three quarters of what stop adds, for each SMALL and MED"
        " instance and algorithm.",
        memory_adds_less,
    ),
    Conclusion(
        "memory-large",
        ("4.11", "4.13"),
        "Where the copy does not fit (LARGE), main memory checkpointing gains little.",
        "memory adds three quarters of what stop adds, or more, for each LARGE instance"
        " and algorithm.",
        memory_helps_little,
    ),
    Conclusion(
        "zeros",
        ("4.14", "4.15"),
        "Address spaces of zeros take far less time when compressed.",
        f"With {COMPRESSED} MED and LARGE take at most half of the time.",
        zeros_take_less,
    ),
    Conclusion(
        "random",
        ("4.16",),
        "Random bytes take longer when compressed.",
        f"MED-RAND and LARGE-RAND take longer with {COMPRESSED}.",
        random_takes_longer,
    ),
    Conclusion(
        "compressed-stagger",
        ("4.14", "4.15"),
        "Staggering compressed NS checkpoints increases their time drastically.",
        "It takes twice as long or more when staggered, for MED and LARGE.",
        compressed_stagger_takes_long,
    ),
    Conclusion(
        "recovery",
        ("table 4.2",),
        "Recovery takes about as long as a checkpoint.",
        "Within 30%, for each instance, compressed or not.",
        recovery_as_long,
    ),
    Conclusion(
        "recovery-compressed",
        ("table 4.2",),
        "Compression that succeeds is beneficial to recovery, too.",
        f"MED and LARGE recover sooner with {COMPRESSED}.",
        recovery_gains,
    ),
)
