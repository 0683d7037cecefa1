# SPDX-License-Identifier: BSD-3-Clause
"""costs.py - costs of checkpoints in 1993 and today, in one form."""

import statistics
from dataclasses import dataclass, field

COMPRESSED = "lz4"  # compared with the codec of 1993: also designed for speed
METHODS = ("stop", "memory", "cow", "cll")
CODECS = ("none", COMPRESSED, "zstd", "auto")
PROTOCOLS = ("sns", "cl", "ns")


@dataclass(frozen=True)
class Way:
    """The way in which a program is saved."""

    protocol: str = "sns"
    method: str = "stop"
    codec: str = "none"
    staggered: bool = False

    def settings(self):
        """Returns the settings of a job that is saved in this way."""
        return {
            "CKPT_PROTOCOL": self.protocol,
            "CKPT_SNAPSHOT": self.method,
            "CKPT_CODEC": self.codec,
            "CKPT_STAGGER": "node" if self.staggered else "no",
        }

    def name(self):
        """Returns a short name."""
        words = [self.protocol.upper()]
        words += [self.method] if self.method != "stop" else []
        words += [self.codec] if self.codec != "none" else []
        words += ["staggered"] if self.staggered else []
        return " ".join(words)


def all_ways(methods=METHODS, codecs=CODECS, protocols=PROTOCOLS):
    """Returns every algorithm, method, codec and staggering; Sync-and-Stop cannot be
    staggered."""
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
    """The median of several measurements. noise: a smaller difference between two
    quantities is not significant."""

    value: float
    least: float
    most: float
    noise: float = 0.0

    @classmethod
    def of(cls, values, noise=None):
        """Returns the quantity of at least one value. The default noise is half of the
        spread."""
        spread = (max(values) - min(values)) / 2
        return cls(
            statistics.median(values),
            min(values),
            max(values),
            spread if noise is None else noise,
        )


def is_less(a, b, factor=1.0):
    """Whether a < factor x b; None if the difference is within the noise, or
    unknown."""
    if a is None or b is None:
        return None
    difference = a.value - factor * b.value
    if abs(difference) <= max(a.noise, factor * b.noise) and difference != 0:
        return None
    return difference < 0


def overhead(seconds, without, checkpoints):
    """Returns the seconds that each of the checkpoints has added to a run."""
    return (seconds - without) / checkpoints


def concurrency(time, added):
    """Returns the fraction of a checkpoint's time in which the program could run."""
    return 1 - added / time


@dataclass(frozen=True)
class Cost:
    """The cost of the checkpoints of one program, taken in one way; seconds, bytes."""

    time: Quantity
    # Unknown without a comparable run without checkpoints.
    overhead: Quantity | None
    stops: tuple = ()  # longest stop of a rank, in each checkpoint
    bytes: Quantity | None = None
    # Page faults that `ckpt checkpoint` reports, where it does.
    faults: tuple = ()

    def concurrency(self):
        """None if the overhead is not known."""
        if self.overhead is None:
            return None
        return concurrency(self.time.value, self.overhead.value)


@dataclass
class Costs:
    """All costs of one machine."""

    name: str
    table: dict = field(default_factory=dict)  # {(workload, Way): Cost}
    megabytes: dict = field(default_factory=dict)  # {workload: of memory}
    recovery: dict = field(default_factory=dict)  # {(workload, codec): (save, restart)}

    def of(self, workload, *words, **more):
        """Returns the Cost of a workload saved by Way(...), or None."""
        return self.table.get((workload, Way(*words, **more)))

    def time(self, workload, *words, **more):
        """Returns the checkpoint time, or None."""
        cost = self.of(workload, *words, **more)
        return cost and cost.time

    def overhead(self, workload, *words, **more):
        """Returns the overhead, or None."""
        cost = self.of(workload, *words, **more)
        return cost and cost.overhead

    def sizes(self, method):
        """Returns the instances of merge sort that have been saved by a method, by
        size."""
        found = [
            workload
            for workload, way in self.table
            if workload.startswith("merge_sort") and way == Way(method=method)
        ]
        return sorted(found, key=self.megabytes.get)
