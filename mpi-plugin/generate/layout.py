# SPDX-License-Identifier: BSD-3-Clause
"""Lays out C statements as clang-format would: 80 columns, lists aligned."""

from dataclasses import dataclass

COLUMNS = 80
INDENT = 4


@dataclass(frozen=True)
class Call:
    """A statement that ends in a list: start item, item, ... end."""

    start: str
    items: list
    end: str = ");"

    def lines(self, depth):
        first = " " * (INDENT * depth) + self.start
        aligned = self._fill(first, " " * len(first))
        if max(map(len, aligned)) <= COLUMNS:
            return aligned
        margin = " " * (INDENT * (depth + 1))
        return [first, *self._fill(margin, margin)]

    def _fill(self, line, margin):
        lines, empty = [], True
        for number, item in enumerate(self.items):
            piece = item + (self.end if number == len(self.items) - 1 else ",")
            if not empty and len(line) + 1 + len(piece) > COLUMNS:
                lines.append(line)
                line, empty = margin, True
            line += piece if empty else " " + piece
            empty = False
        return lines + [line]


@dataclass(frozen=True)
class If:
    condition: str
    then: list
    otherwise: list = ()

    def lines(self, depth):
        indent = " " * (INDENT * depth)
        text = [f"{indent}if ({self.condition}) {{", *render(self.then, depth + 1)]
        if self.otherwise:
            text += [f"{indent}}} else {{", *render(self.otherwise, depth + 1)]
        return text + [indent + "}"]


def render(statements, depth):
    """Returns the lines of statements: text, Call or If."""
    lines = []
    for statement in statements:
        if isinstance(statement, str):
            lines.append(" " * (INDENT * depth) + statement if statement else "")
        else:
            lines += statement.lines(depth)
    return lines
