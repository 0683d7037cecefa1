# SPDX-License-Identifier: BSD-3-Clause
"""suite.py TESTS [OPTION...] - runs mpi4py's own test suite unchanged, and
records the outcome of every test.

TESTS is the directory test/ of mpi4py's source; the options are those of its
runtests.py. Each rank writes one line for a test to results.RANK in the working
directory: the outcome and the test's name.
"""

import os
import sys
import unittest

OUTCOMES = {
    "addSuccess": "passed",
    "addFailure": "failed",
    "addError": "error",
    "addSkip": "skipped",
    "addExpectedFailure": "expected failure",
    "addUnexpectedSuccess": "unexpected success",
}


def noting(base, file):
    """Derives a class from the result class `base` that also writes to a
    file."""

    def add(method, outcome):
        def note(self, test, *details):
            print(f"{outcome}: {test.id()}", file=file, flush=True)
            return getattr(base, method)(self, test, *details)

        return note

    methods = {name: add(name, text) for name, text in OUTCOMES.items()}
    return type("NotingResult", (base,), methods)


def main():
    """Runs the suite; exit code 1 if a test failed."""
    tests = sys.argv.pop(1)
    sys.dont_write_bytecode = True
    sys.path.insert(0, tests)
    import runtests  # mpi4py's

    rank = os.environ["PMIX_RANK"]
    with open(f"results.{rank}", "w", encoding="utf-8") as file:
        runner = unittest.TextTestRunner
        runner.resultclass = noting(runner.resultclass, file)
        return runtests.main()


sys.exit(main())
