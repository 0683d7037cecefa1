# SPDX-License-Identifier: BSD-3-Clause
"""coverage.py - which functions of mpi.h the coverage program has called, and
which it has called both before and after a checkpoint, a kill and a restart."""

import re
from dataclasses import dataclass, field

from .programs import Program
from .settings import APPS

# Sections of apps/coverage that go through a checkpoint together.
OBJECTS = [
    "attributes",
    "collectives",
    "communicators",
    "datatypes",
    "environment",
    "errhandlers",
    "groups",
    "info",
    "messages",
    "neighbors",
    "nonblocking",
    "operations",
    "packing",
    "requests",
    "tool",
    "topologies",
]

# Functions that no checkpoint can lie between two calls of, and why.
BY_NATURE = {
    "Init": "begins MPI; called once",
    "Init_thread": "begins MPI; called once",
    "Finalize": "ends MPI; called once",
    "Abort": "ends the job",
}


@dataclass
class Run:
    """Sections that run in one job. If why_not is "", a checkpoint, a kill and
    a restart happen in its middle. Otherwise why_not is the reason, for the
    functions that only this run calls."""

    name: str
    words: list  # options and sections
    why_not: str = ""
    code: int = 0  # the expected exit code
    place: str = "coverage"  # directory of the program in apps

    def program(self, gate, scratch):
        argv = [APPS / self.place / "coverage", gate, scratch, *self.words]
        return Program(self.name, argv, 2, r"^waiting (\d+)")


RUNS = [
    Run("objects", ["--thread", *OBJECTS]),
    Run("files", ["files"]),
    Run("windows", ["windows"]),
    Run("dynamic", ["dynamic"], "processes of another job are connected"),
    Run("abort", ["--abort", "info"], "ends the job", code=7),
]

# The program that is built with Open MPI 5.0, for the functions that its header
# adds.
MPI4 = Run("mpi4", ["mpi4"], place="mpi4")


def every_function(place="coverage"):
    """Returns the functions of mpi.h, from the table in the program itself."""
    text = (APPS / place / "counted.c").read_text(encoding="utf-8")
    table = text.partition("names[COUNT] = {")[2].partition("}")[0]
    return set(re.findall(r'"(\w+)"', table))


@dataclass
class Coverage:
    """The results so far for each function."""

    functions: set
    called: set = field(default_factory=set)
    across: set = field(default_factory=set)
    reasons: dict = field(default_factory=dict)

    def add(self, run, lines):
        """Counts the calls that a run reports."""
        for line in lines:
            match = re.fullmatch(r"called (\w+) (\d+) (\d+)", line)
            if not match:
                continue
            name, before, after = match[1], int(match[2]), int(match[3])
            self.called.add(name)
            if run.why_not:
                self.reasons[name] = run.why_not
            elif before > 0 and after > 0:
                self.across.add(name)

    def not_across(self):
        """Returns the called functions that no checkpoint separated, and
        why."""
        return {
            name: BY_NATURE.get(name) or self.reasons.get(name)
            for name in sorted(self.called - self.across)
        }

    def summary(self):
        """Returns the result in words, one line or more."""
        total = len(self.functions)
        lines = [
            f"{len(self.called)} of {total} functions called, "
            f"{len(self.across)} checkpointed across"
        ]
        for name, reason in self.not_across().items():
            lines.append(f"  not across: MPI_{name}: {reason}")
        for name in sorted(self.functions - self.called):
            lines.append(f"  not called: MPI_{name}")
        return "\n".join(lines)
