# SPDX-License-Identifier: BSD-3-Clause
"""costs.py - what checkpoints cost, of 1993 and of today, in one form."""

import statistics
from dataclasses import dataclass, field

COMPRESSED = "lz4"  # the codec beside the one of 1993: made for speed, too
METHODS = ("stop", "memory", "cow", "cll")
CODECS = ("none", COMPRESSED, "zstd", "auto")
PROTOCOLS = ("sns", "cl", "ns")


@dataclass(frozen=True)
class Way:
    """How a program is saved."""

    protocol: str = "sns"
    method: str = "stop"
    codec: str = "none"
    staggered: bool = False

    def settings(self):
        """Of a job that is to be saved so."""
        return {
            "CKPT_PROTOCOL": self.protocol,
            "CKPT_SNAPSHOT": self.method,
            "CKPT_CODEC": self.codec,
            "CKPT_STAGGER": "node" if self.staggered else "no",
        }

    def name(self):
        """In few words."""
        words = [self.protocol.upper()]
        words += [self.method] if self.method != "stop" else []
        words += [self.codec] if self.codec != "none" else []
        words += ["staggered"] if self.staggered else []
        return " ".join(words)


def all_ways(methods=METHODS, codecs=CODECS, protocols=PROTOCOLS):
    """Every algorithm, method, codec and staggering; Sync-and-Stop has none of that."""
    return [
        Way(protocol, method, codec, staggered)
        for protocol in protocols
        for method in methods
        for codec in codecs
        for staggered in ((False,) if protocol == "sns" else (False, True))
    ]


# The lines of the tables of appendix C.
WAYS_1993 = all_ways(("stop", "memory"), ("none", COMPRESSED))


@dataclass(frozen=True)
class Quantity:
    """Of several measurements the median; noise: two that differ by less are not
    known to differ."""

    value: float
    least: float
    most: float
    noise: float = 0.0

    @classmethod
    def of(cls, values, noise=None):
        """Of at least one value. Without a noise it is half of the spread."""
        spread = (max(values) - min(values)) / 2
        return cls(
            statistics.median(values),
            min(values),
            max(values),
            spread if noise is None else noise,
        )


def is_less(a, b, factor=1.0):
    """Whether a < factor x b; None if that is within the noise, or not known."""
    if a is None or b is None:
        return None
    difference = a.value - factor * b.value
    if abs(difference) <= max(a.noise, factor * b.noise) and difference != 0:
        return None
    return difference < 0


def overhead(seconds, without, checkpoints):
    """What each of some checkpoints has added to a run; seconds."""
    return (seconds - without) / checkpoints


def concurrency(time, added):
    """The part of a checkpoint's time that the program had for itself."""
    return 1 - added / time


@dataclass(frozen=True)
class Cost:
    """Of the checkpoints of one program, taken in one way; seconds, bytes."""

    time: Quantity
    overhead: Quantity | None  # not known if no run without checkpoints is beside it
    stops: tuple = ()  # how long ranks stood still, at most, in each checkpoint
    bytes: Quantity | None = None
    faults: tuple = ()  # what `ckpt checkpoint` says of page faults, where it does

    def concurrency(self):
        """None if the overhead is not known."""
        if self.overhead is None:
            return None
        return concurrency(self.time.value, self.overhead.value)


@dataclass
class Costs:
    """All of one machine."""

    name: str
    table: dict = field(default_factory=dict)  # {(workload, Way): Cost}
    megabytes: dict = field(default_factory=dict)  # {workload: of memory}
    recovery: dict = field(default_factory=dict)  # {(workload, codec): (save, restart)}

    def of(self, workload, *words, **more):
        """The Cost of a workload saved by Way(...), or None."""
        return self.table.get((workload, Way(*words, **more)))

    def time(self, workload, *words, **more):
        """The Quantity, or None."""
        cost = self.of(workload, *words, **more)
        return cost and cost.time

    def overhead(self, workload, *words, **more):
        """The Quantity, or None."""
        cost = self.of(workload, *words, **more)
        return cost and cost.overhead

    def sizes(self, method):
        """Those instances of merge sort that have been saved by a method, by size."""
        found = [
            workload
            for workload, way in self.table
            if workload.startswith("merge_sort") and way == Way(method=method)
        ]
        return sorted(found, key=self.megabytes.get)
