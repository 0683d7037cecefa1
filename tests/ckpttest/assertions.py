# SPDX-License-Identifier: BSD-3-Clause
"""assertions.py - counts the assertions of the sources, by folder."""

import collections
import re
from dataclasses import dataclass

from .settings import TOP

# The least number of assertions in a thousand lines of each part, without its tests.
LEAST = {"libckpt": 8, "mpi-plugin": 8, "launcher": 7}

SOURCES = {".c", ".h", ".S", ".cpp", ".hpp"}
ASSERTION = re.compile(
    r"\b(?:CKPT_INVARIANT|CKPT_EXPECT|_Static_assert|static_assert|assert)\s*\("
)
# Comments and texts are no code; neither is the definition of an assertion.
NO_CODE = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|^[ \t]*#[ \t]*define[^\n]*', re.DOTALL | re.MULTILINE
)


@dataclass
class Count:
    """What a folder has."""

    lines: int = 0
    assertions: int = 0

    @property
    def per_thousand(self):
        """The assertions in a thousand lines."""
        return 1000 * self.assertions / max(1, self.lines)


def in_text(text):
    """Returns the number of assertions in the text of a source file."""
    return len(ASSERTION.findall(NO_CODE.sub(" ", text)))


def in_sources(part, top=TOP):
    """Returns the Count of each folder of a part, {"": of the whole part} included."""
    counts = collections.defaultdict(Count)
    for path in sorted((top / part).rglob("*")):
        folder = path.relative_to(top / part).parts[:-1]
        if path.suffix not in SOURCES or "tests" in folder:
            continue
        text = path.read_text("utf-8")
        for name in {"", "/".join(folder)}:
            counts[name].lines += text.count("\n")
            counts[name].assertions += in_text(text)
    return dict(counts)
