# SPDX-License-Identifier: BSD-3-Clause
"""sanitizers.py - a separate build with sanitizers, the unit tests and some end-to-end tests in it,
and the sanitizers' reports of any process."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from . import extra_builds
from .settings import TOP

# Each entry is one build. The thread sanitizer cannot be combined with another.
KINDS = ("address,undefined", "thread")

FOLDERS = ("libckpt", "mpi-plugin", "launcher", "apps")

# A run, checkpoints, restarts, verify, inspect, gc, a lost agent, files rolled back.
END_TO_END = (
    "test_run.py::test_ranks_die",
    "test_run.py::test_restart_takes_an_older_one",
    "test_agent.py::test_killed_agent_is_replaced",
    "test_agent.py::test_requests_at_once",
    "test_agent.py::test_periodic_checkpoints",
    "test_bad_input.py",
    "test_image.py",
    "test_file_rollback.py::test_kinds",
    "test_levels.py::test_a_partner_makes_the_piece_again",
)

# Sanitizers need fixed addresses, which randomised mappings may occupy.
SAME_ADDRESSES = ["setarch", "--addr-no-randomize"]

# Reports that ThreadSanitizer need not make, with reasons.
NOT_OURS = TOP / "tests/thread.supp"

# Seconds; unit tests are several times slower, and slower still on a busy machine.
TIMEOUT = 900


@dataclass
class Result:
    """The result of one build."""

    kind: str
    passed: int = 0
    failed: list = field(default_factory=list)
    reports: list = field(default_factory=list)  # files


def environment(reports):
    """Returns an environment in which each process writes its report to its own file below
    `reports`."""
    reports.mkdir(parents=True, exist_ok=True)
    log = f"log_path={reports}/report"
    return {
        **os.environ,
        "ASAN_OPTIONS": f"{log}:detect_stack_use_after_return=1:abort_on_error=0",
        "UBSAN_OPTIONS": f"{log}:print_stacktrace=1:halt_on_error=1",
        "TSAN_OPTIONS": f"{log}:second_deadlock_stack=1:halt_on_error=0:suppressions={NOT_OURS}",
    }


def build(directory, kind, jobs):
    """Configures, if that has not been done, and builds programs and unit tests."""
    extra_builds.configure(
        directory, f"--enable-sanitizers={kind}", "CXXFLAGS=-O1 -g1", "CFLAGS=-O2 -g1"
    )
    for folder in FOLDERS:
        extra_builds.make(directory, folder, f"-j{jobs}", "all")
        extra_builds.make(directory, folder, f"-j{jobs}", "install")
    for folder in ("libckpt", "launcher"):
        extra_builds.make(directory, folder, f"-j{jobs}", "check", "TESTS=")


def programs(directory):
    """Yields the unit tests of a build, with the directories in which they run."""
    for folder, pattern in (("libckpt", "test_*"), ("launcher", "tests/test_*")):
        place = directory / folder
        for path in sorted(place.glob(pattern)):
            if path.suffix == "" and path.is_file() and os.access(path, os.X_OK):
                yield place, path.relative_to(place)


def run_unit_tests(directory, result, reports):
    """Runs each program once."""
    for place, program in programs(directory):
        text = f"{place.name}/{program}"
        try:
            with open(reports.parent / f"{program.name}.txt", "wb") as output:
                code = subprocess.run(
                    [*SAME_ADDRESSES, f"./{program}"],
                    cwd=place,
                    env=environment(reports),
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    timeout=TIMEOUT,
                    check=False,
                ).returncode
        except subprocess.TimeoutExpired:
            code = "no end"
        if code == 0:
            result.passed += 1
        else:
            result.failed.append(f"{text}: {code}")
        print(f"{text}: {code}", flush=True)


def run_end_to_end(directory, result, reports):
    """Runs the end-to-end tests with the programs of the build."""
    call = [*SAME_ADDRESSES, sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rf"]
    call += [str(TOP / "tests" / name) for name in END_TO_END]
    settings = {
        "CKPT_TEST_BUILD": str(directory),
        "CKPT_TEST_TIMEOUT": "600",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    code = subprocess.run(
        call, cwd=TOP, env={**environment(reports), **settings}, check=False
    ).returncode
    if code == 0:
        result.passed += 1
    else:
        result.failed.append(f"end-to-end tests: {code}")


def run(directory, kind, jobs, end_to_end):
    """Builds and runs everything under one kind of sanitizers."""
    place = Path(directory) / kind.replace(",", "-")
    reports = place / "reports"
    result = Result(kind)
    for old in reports.glob("report.*"):
        old.unlink()
    build(place, kind, jobs)
    run_unit_tests(place, result, reports)
    if end_to_end:
        run_end_to_end(place, result, reports)
    result.reports = sorted(reports.glob("report.*"))
    return result
