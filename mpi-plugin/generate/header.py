# SPDX-License-Identifier: BSD-3-Clause
"""Reads the declarations of the installed mpi.h: functions, data, predefined handles."""

import re
import subprocess
from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """One parameter as written in the prototype: `int ranges[][3]` has type
    `int`, name `ranges`, suffix `[][3]`. Varargs have the type `...`."""

    type: str
    name: str
    suffix: str

    def declaration(self):
        space = "" if self.type.endswith("*") or not self.name else " "
        return f"{self.type}{space}{self.name}{self.suffix}"


@dataclass(frozen=True)
class Function:
    name: str  # without MPI_
    result: str
    parameters: tuple


class HeaderError(Exception):
    """The header could not be read or understood."""


_STRING = re.compile(r'"(\\.|[^"\\])*"')
_ATTRIBUTE = re.compile(r"__attribute__\s*\(")
_PARAMETER = re.compile(r"^(?P<type>.*?)\b(?P<name>\w+)\s*(?P<suffix>(\[\w*\])*)$")
_PROTOTYPE = re.compile(r"^(?:extern )?(?P<result>[\w *]+?)(?P<name>\w+)\s*\((?P<list>.*)\)$")
_DATA = re.compile(r"^extern (?P<type>.*?[ *])(?P<name>\w+)(\[\w*\])*$")
_GLOBAL = re.compile(
    r"^#define (?P<macro>\w+) .*PREDEFINED_GLOBAL\(\s*(?P<type>\w+)\s*,\s*(?P<symbol>\w+)\s*\)"
)
_NAME = re.compile(r"\b(I?MPI_\w+)\b")
_MACRO = re.compile(r"^#define (MPI_\w+) ", re.MULTILINE)


def _run_preprocessor(command, arguments):
    result = subprocess.run(
        command + arguments,
        input="#include <mpi.h>\n",
        text=True,
        capture_output=True,
        check=False,
    )
    if result.returncode != 0:
        raise HeaderError(f"the preprocessor failed on mpi.h:\n{result.stderr}")
    return result.stdout


def _without_attributes(text):
    """Returns the text without __attribute__((...)), whose parentheses nest."""
    text = _STRING.sub('""', text)
    pieces = []
    position = 0
    while match := _ATTRIBUTE.search(text, position):
        pieces.append(text[position : match.start()])
        depth, position = 1, match.end()
        while depth > 0:
            depth += {"(": 1, ")": -1}.get(text[position], 0)
            position += 1
    pieces.append(text[position:])
    return " ".join(pieces)


def _declarations(text):
    """Returns the top-level declarations, one string each, with white space collapsed."""
    current, depth = [], 0
    for character in text:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == ";" and depth == 0:
            yield " ".join("".join(current).split())
            current = []
        else:
            current.append(character)


def _parameters(text):
    if text.strip() in ("", "void"):
        return ()
    parameters = []
    for piece in text.split(","):
        piece = " ".join(piece.split())
        if piece == "...":
            parameters.append(Parameter("...", "", ""))
            continue
        match = _PARAMETER.match(piece)
        if match is None:
            raise HeaderError(f"parameter not understood: '{piece}'")
        if not match["type"]:  # `MPI_Op`, without a name
            parameters.append(Parameter(piece, "", ""))
            continue
        parameters.append(
            Parameter(match["type"].strip(), match["name"], match["suffix"])
        )
    return tuple(parameters)


class Header:
    """Parses the output of the preprocessor.

    functions: Function by name, of all PMPI_X (MPI_X is the same).
    other_functions: names of declared functions outside MPI_, as OMPI_C_MPI_DUP_FN.
    data: C type by name, of all `extern` objects.
    predefined: handle type (MPI_Comm ...) by the symbol that a macro stands for.
    symbols: that symbol by the macro (MPI_INT ...).
    constants: all names that begin with MPI_ (or IMPI_): macros, enumerators and others.
    """

    def __init__(self, text, macros):
        self.functions = {}
        self.other_functions = []
        self.data = {}
        self.predefined = {}
        self.symbols = {}
        self.constants = set(_NAME.findall(text)) | set(_MACRO.findall(macros))
        declared = set()
        for declaration in _declarations(_without_attributes(text)):
            if declaration.startswith("typedef"):
                continue
            self._declare(declaration, declared)
        only_one = declared ^ set(self.functions)
        if only_one:
            raise HeaderError(
                "declared only with or only without P: " + ", ".join(sorted(only_one))
            )
        for line in macros.splitlines():
            match = _GLOBAL.match(line)
            if match:
                self.predefined[match["symbol"]] = match["type"]
                self.symbols[match["macro"]] = match["symbol"]

    def _declare(self, declaration, declared):
        match = _DATA.match(declaration)
        if match:
            self.data[match["name"]] = match["type"].strip()
            return
        match = _PROTOTYPE.match(declaration)
        if match is None:
            return
        name = match["name"]
        if name.startswith("PMPI_"):
            self.functions[name[5:]] = Function(
                name[5:], match["result"].strip(), _parameters(match["list"])
            )
        elif name.startswith("MPI_"):
            declared.add(name[4:])
        elif name.startswith("OMPI_"):
            self.other_functions.append(name)


def read(command):
    """Returns the header as seen by `command` (preprocessor with its -I options)."""
    stdin = ["-x", "c", "-"]
    return Header(
        _run_preprocessor(command, ["-P"] + stdin),
        _run_preprocessor(command, ["-dM"] + stdin),
    )
