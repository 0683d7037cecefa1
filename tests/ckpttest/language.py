# SPDX-License-Identifier: BSD-3-Clause
"""language.py - finds sentences in comments, documents and messages that readers must read twice,
by constructions that engineers do not write."""

import io
import re
import subprocess
import tokenize
from dataclasses import dataclass
from pathlib import Path

from .settings import TOP

# A sentence is marked if one of these matches.
MARKS = {
    "who as a noun": r"(?:^|[.;:,(] |\bof |\bby |\bto |\bfor |\bfrom |\bwith |\band )[Ww]ho "
    r"(?:is|are|was|has|have|had|does|do|takes|waits|comes|goes|asks|holds|reads|writes)\b",
    "what as a noun": r"\b[Ww]hat (?:is|are|was|were|has|had|comes|came|goes|went|stands|"
    r"others|nobody|it had|they had)\b(?!.*\?)",
    "is no": r"\b(?:is|are|was|were|be|been) no (?!longer|more\b|less|such|earlier|later|"
    r"larger|smaller|other)\w+",
    "anew": r"\banew\b",
    "in vain": r"\bin vain\b",
    "but for": r"\bbut for\b",
    "hanging of": r"\b(?:of|in|for|by) (?:these|those|them|it|this|that)[.;:]?$",
    "as ever": r"\bas ever\b",
    "nobody": r"\b[Nn]obody\b",
    "one that": r"\b[Oo]nes? that\b",
    "of itself": r"\bof (?:itself|its own|their own|our own)[.,;]",
    "that of": r"^(?:That|Those) (?:of|which|who|what)\b",
    "whose": r"^Whose\b",
    "has to do": r"\b(?:has|have|had) (?:\w+ )?(?:nothing|much|to do with)\b",
}
SUFFIXES = {".c", ".h", ".S", ".cpp", ".hpp", ".py", ".md", ".1"}


@dataclass
class Sentence:
    """A sentence on one line, with the line where it begins."""

    path: Path
    line: int
    text: str

    @property
    def mark(self):
        """The name of the first construction that the sentence has, or None."""
        return next((name for name, p in MARKS.items() if re.search(p, self.text)), None)


def _c_comments(text):
    """Yields line and text of each comment; consecutive // lines are one comment."""
    pattern = re.compile(
        r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|(?://[^\n]*\n[ \t]*)+', re.DOTALL
    )
    for match in pattern.finditer(text):
        found = match.group()
        if found[0] == "/":
            lines = re.sub(r"^[ \t]*(?:/\*+|\*+/|///?<?!?|\*(?!/))|\*/$", "", found, flags=re.M)
            yield text.count("\n", 0, match.start()) + 1, lines


def _python_comments(text):
    """Yields line and text of each comment and docstring of a Python text."""
    last_line, block, first = 0, [], 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != last_line + 1 and block:
                yield first, "\n".join(block)
                block = []
            first = first if block else token.start[0]
            block.append(token.string.lstrip("#!: "))
            last_line = token.start[0]
        elif token.type == tokenize.STRING and token.string.startswith('"""'):
            yield token.start[0], token.string.strip('"')
    if block:
        yield first, "\n".join(block)


def _document(text):
    """Yields line and text of each paragraph of Markdown, outside of code and tables."""
    text = re.sub(r"^```.*?^```", lambda m: "\n" * m.group().count("\n"), text, flags=re.M | re.S)
    for match in re.finditer(r"(?:^[^|\n#][^\n]*\n)+", text, flags=re.M):
        yield text.count("\n", 0, match.start()) + 1, match.group()


def _manual(text):
    """Yields line and text of each paragraph of a manual page."""
    for match in re.finditer(r"(?:^[^.'\n][^\n]*\n)+", text, flags=re.M):
        yield text.count("\n", 0, match.start()) + 1, match.group()


_READERS = {".py": _python_comments, ".md": _document, ".1": _manual}


def sentences_of(path):
    """Yields all sentences of a file of the project."""
    text = (TOP / path).read_text(encoding="utf-8")
    for line, block in _READERS.get(path.suffix, _c_comments)(text):
        for paragraph in re.split(r"\n[ \t]*\n", block):
            flat = re.sub(r"\s+", " ", paragraph).strip()
            for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z`(])", flat):
                if len(sentence.split()) > 2:
                    yield Sentence(path, line, sentence)


def files(*folders):
    """Returns the paths of the project's own texts below `folders`."""
    listed = subprocess.run(
        ["git", "ls-files", *folders], cwd=TOP, check=True, capture_output=True, text=True
    ).stdout.split()
    paths = [Path(name) for name in listed]
    return [p for p in paths if p.suffix in SUFFIXES]


def sentences(*folders):
    """Yields the sentences of all files below `folders`."""
    for path in files(*folders):
        yield from sentences_of(path)
