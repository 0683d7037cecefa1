# SPDX-License-Identifier: BSD-3-Clause
"""conftest.py - what the end-to-end tests share."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from ckpttest.lab import Lab  # noqa: E402  (needs the path)


@pytest.fixture
def lab(tmp_path):
    """A scratch place; whatever runs in it is killed at the end."""
    place = Lab(tmp_path)
    yield place
    place.close()


@pytest.fixture(scope="session")
def native(tmp_path_factory):
    """Answers of uninterrupted runs, each made once."""
    known = {}

    def run(program):
        key = (program.name, program.ranks, *map(str, program.argv))
        if key not in known:
            place = Lab(tmp_path_factory.mktemp("native"))
            try:
                known[key] = place.run_native(program)
            finally:
                place.close()
        return known[key]

    return run
