# SPDX-License-Identifier: BSD-3-Clause
"""formatting.py - the layout of C and C++ files, by clang-format and .clang-format."""

import difflib
import subprocess
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count

from .settings import TOP

# Files of one call. Most of a call's time is its start.
AT_ONCE = 200

# A header of Fortran programs: clang-format does not know its language.
OF_ANOTHER_LANGUAGE = {TOP / "apps/fortran/dialect.h"}
LONGEST_LINE = 100


def _formatted(files):
    return [path for path in files if path not in OF_ANOTHER_LANGUAGE]


def long_lines(files):
    """Returns a finding for each line of more than LONGEST_LINE columns."""
    return [
        f"{path.relative_to(TOP)}:{number}: {len(line)} columns, not {LONGEST_LINE}\n"
        for path in files
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > LONGEST_LINE
    ]


def _runs(files):
    return (files[i : i + AT_ONCE] for i in range(0, len(files), AT_ONCE))


def apply(files):
    """Formats these files in place."""
    for some in _runs(_formatted(files)):
        subprocess.run(["clang-format", "-i", "--style=file", *some], cwd=TOP, check=True)


def _suspects(files):
    """Returns those of these files that clang-format would change."""
    call = ["clang-format", "--style=file", "--dry-run", *_formatted(files)]
    done = subprocess.run(call, cwd=TOP, capture_output=True, text=True, check=True)
    named = {line.split(":")[0] for line in done.stderr.splitlines() if "[-Wclang-format" in line}
    return [file for file in files if str(file) in named]


def _difference(file):
    """Returns the lines of a unified difference between a file and its formatted text."""
    call = ["clang-format", "--style=file", str(file)]
    done = subprocess.run(call, cwd=TOP, capture_output=True, encoding="utf-8", check=True)
    before = file.read_text(encoding="utf-8").splitlines(keepends=True)
    after = done.stdout.splitlines(keepends=True)
    name = file.relative_to(TOP) if file.is_relative_to(TOP) else file
    return list(difflib.unified_diff(before, after, f"{name}", f"{name}, formatted", n=1))


def differences(files):
    """Returns the lines of the differences of all these files from their formatted texts."""
    with ThreadPoolExecutor(cpu_count()) as pool:
        suspects = [file for some in pool.map(_suspects, _runs(files)) for file in some]
        return [line for lines in pool.map(_difference, suspects) for line in lines]
