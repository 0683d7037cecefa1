# SPDX-License-Identifier: BSD-3-Clause
"""line_coverage.py - which lines and branches the unit tests execute: a build with gcc --coverage,
and gcovr's counts, by folder."""

import json
import subprocess
import sys
from collections import Counter, defaultdict

from . import extra_builds
from .settings import BUILD, TOP

FOLDERS = ("libckpt", "mpi-plugin", "launcher")

# Not measured: the tests themselves, and programs that only they run.
NOT_OURS = (r".*/tests/.*", r".*/fuzz/.*")


def build(directory, folders, jobs):
    """Builds the folders, with what their unit tests need, and those tests."""
    flags = "-O0 -g1 --coverage"
    # Several processes and threads of a test count in the same file.
    flags += " -fprofile-update=atomic"
    extra_builds.configure(directory, f"CFLAGS={flags}", f"CXXFLAGS={flags}")
    for folder in FOLDERS[: max(map(FOLDERS.index, folders)) + 1]:
        extra_builds.make(directory, folder, f"-j{jobs}", "all")
    # Children of tests end with _exit(), and are to leave their counts as well.
    at_exit = directory / "coverage_exit.o"
    call = ["gcc", "-O2", "-c", TOP / "tests/coverage_exit.c", "-o", at_exit]
    subprocess.run(call, check=True)
    links = f"LDFLAGS=-Wl,--wrap=_exit {at_exit}"
    for folder in folders:
        extra_builds.make(directory, folder, f"-j{jobs}", "check", "TESTS=", links)


def run_tests(directory, folders):
    """Runs the unit tests, with counts of 0 before. Returns the folders in which some failed."""
    for counts in directory.rglob("*.gcda"):
        counts.unlink()
    failed = []
    for folder in folders:
        call = ["make", "-s", "-k", "-C", folder, "check"]
        if subprocess.run(call, cwd=directory, check=False).returncode != 0:
            failed.append(folder)
    return failed


def measure(directory, folders, jobs):
    """Returns gcovr's summary of each source file, as a list of dictionaries."""
    output = directory / "coverage.json"
    call = [BUILD / "venv/bin/gcovr", f"--root={TOP}", f"--json-summary={output}", f"-j{jobs}"]
    call += ["--gcov-ignore-parse-errors=suspicious_hits.warn_once_per_file"]
    for folder in folders:
        call += [f"--filter={TOP}/{folder}/"]
    for pattern in NOT_OURS:
        call += [f"--exclude={pattern}"]
    call += [directory / folder for folder in folders]
    subprocess.run([str(word) for word in call], cwd=directory, check=True, stdout=sys.stderr)
    return json.loads(output.read_text("utf-8"))["files"]


def rows(files):
    """Returns the lines of a table: each folder, with its lines and branches, and the sum."""
    sums = defaultdict(Counter)
    for file in files:
        folder = file["filename"].rpartition("/")[0]
        for key in (folder, "all"):
            for name in ("line_total", "line_covered", "branch_total", "branch_covered"):
                sums[key][name] += file[name]
    order = sorted(sums, key=lambda key: (key == "all", key))
    return [
        [key, sums[key]["line_total"], _share(sums[key], "line"), _share(sums[key], "branch")]
        for key in order
    ]


def _share(counts, kind):
    total = counts[f"{kind}_total"]
    return f"{counts[f'{kind}_covered'] / total:.1%}" if total else "-"
