# SPDX-License-Identifier: BSD-3-Clause
"""plan.py - the runs, their order, and their estimated duration."""

from dataclasses import asdict, dataclass

from . import dissertation
from .costs import COMPRESSED, WAYS_1993, Way, all_ways

START_AND_END = 0.4  # seconds of a run outside of the program's time
RESTART_SHARE = 0.5  # fraction of a run before the kill
MINUTE = 60

# For the quick form: the subjects and ways of compression and staggering.
QUICK_IN_FULL = ("LARGE-IND", "LARGE-SYNC", "LARGE-IND-RAND")
QUICK_REAL = [
    Way("sns"),
    Way("ns"),
    Way("ns", staggered=True),
    Way("ns", "memory"),
    Way("ns", "memory", COMPRESSED),
]
QUICK_PLAIN = [way for way in WAYS_1993 if way.codec == "none" and not way.staggered]
QUICK_HEAPS = (0.789, 4.938, 9.821)
RECOVERED = [row[0] for row in dissertation.rows("4.2")]


@dataclass(frozen=True)
class Run:
    """One start of a program. Kinds: "calibration"; "without" checkpoints; "saved"; and
    "restart": saved, killed, and restarted."""

    kind: str
    workload: str
    way: Way
    repetition: int = 0
    group: int = 0  # number of the group of ways that share a run without checkpoints

    def key(self):
        """Returns the key of a run in a file of results."""
        words = [self.kind, self.workload, self.way.name(), self.repetition]
        return "/".join(map(str, [*words, self.group]))

    def as_data(self):
        """Returns the run for the file of results."""
        return {"key": self.key(), **asdict(self)}


@dataclass(frozen=True)
class Extent:
    """The selection of measurements."""

    methods: tuple  # the methods of this build
    codecs: tuple
    protocols: tuple
    workloads: tuple  # their names
    is_quick: bool

    def as_data(self):
        """Returns the extent for the file of results."""
        return asdict(self)

    def _offers(self, way):
        return (
            way.method in self.methods
            and way.codec in self.codecs
            and way.protocol in self.protocols
        )

    def ways(self, subject):
        """Returns the ways to save a program. The programs of section 4.1 have one
        process, so they have no algorithm, and cannot be staggered."""
        if not subject.is_parallel:
            return [Way(method=method) for method in self.methods]
        if not self.is_quick:
            return all_ways(self.methods, self.codecs, self.protocols)
        ways = QUICK_PLAIN
        if subject.name in dissertation.REAL:
            ways = QUICK_REAL
        elif subject.name in QUICK_IN_FULL:
            ways = WAYS_1993
        elif subject.name.endswith("-RAND"):
            ways = []
        return [way for way in ways if self._offers(way)]

    def repetitions(self, scale, are_few=True):
        """Returns how often runs are repeated: in the quick form once more if they are
        few."""
        return scale.repetitions + (1 if self.is_quick and are_few else 0)

    def is_measured(self, subject):
        """Whether it was requested, and belongs to this extent."""
        if subject.name not in self.workloads or not self.ways(subject):
            return False
        if self.is_quick and subject.name.startswith("merge_sort"):
            return subject.name in map(dissertation.merge_sort, QUICK_HEAPS)
        return True


def _groups(ways, size):
    """Yields lists of at most `size` ways with the same protocol."""
    for protocol in dict.fromkeys(way.protocol for way in ways):
        own = [way for way in ways if way.protocol == protocol]
        for start in range(0, len(own), size):
            yield own[start : start + size]


def _of_group(name, ways, repetition, number):
    """Returns the runs of a group. The run without checkpoints is the first, and in the
    next repetition the last."""
    without = Run("without", name, Way(ways[0].protocol), repetition, number)
    saved = [Run("saved", name, way, repetition, number) for way in ways]
    return [without, *saved] if (repetition + number) % 2 == 0 else [*saved, without]


def _restarts(extent, subjects, repetition):
    codecs = [codec for codec in ("none", COMPRESSED) if codec in extent.codecs]
    if "sns" in extent.protocols and "stop" in extent.methods:
        for subject in subjects:
            if subject.name in RECOVERED:
                for codec in codecs:
                    yield Run("restart", subject.name, Way(codec=codec), repetition)


def runs(scale, extent, subjects):
    """Returns all runs in their order: each repetition is complete before the next."""
    own = [subject for subject in subjects.values() if extent.is_measured(subject)]
    found = [Run("calibration", subject.name, Way()) for subject in own]
    for repetition in range(extent.repetitions(scale)):
        for subject in own:
            if repetition >= extent.repetitions(scale, not subject.is_parallel):
                continue
            groups = _groups(extent.ways(subject), scale.group)
            for number, ways in enumerate(groups):
                found += _of_group(subject.name, ways, repetition, number)
        found += _restarts(extent, own, repetition)
    return found


def estimate(scale, todo):
    """Estimates the duration of runs in seconds."""
    own = {"calibration": 1.0, "restart": scale.seconds * RESTART_SHARE}
    return sum(START_AND_END + own.get(run.kind, scale.seconds) for run in todo)


def in_words(seconds):
    """Returns a duration such as '12 min'."""
    if seconds < 2 * MINUTE:
        return f"{seconds:.0f} s"
    if seconds < 2 * MINUTE**2:
        return f"{seconds / MINUTE:.0f} min"
    return f"{seconds / MINUTE**2:.1f} h"
