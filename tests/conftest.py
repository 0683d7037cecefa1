# SPDX-License-Identifier: BSD-3-Clause
"""conftest.py - what the end-to-end tests share."""

import contextlib
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from ckpttest import scheduling  # noqa: E402  (needs the path)
from ckpttest.cluster import Cluster  # noqa: E402
from ckpttest.lab import Lab  # noqa: E402

# Tests whose ranks never pause: side by side they would take each other's cores.
BUSY = {
    "test_agent",
    "test_campaigns",
    "test_cluster",
    "test_files",
    "test_fortran",
    "test_mpi4py",
    "test_openmpi5",
    "test_slurm",
    "test_snapshot",
    "test_stagger",
    "test_threads",
}


def pytest_configure(config):
    config.addinivalue_line("markers", "busy: to be run alone")
    if not hasattr(config, "workerinput"):  # for all workers of pytest-xdist
        settings = contextlib.ExitStack()
        settings.enter_context(scheduling.no_groups())
        config.add_cleanup(settings.close)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.stem in BUSY:
            item.add_marker("busy")


@pytest.fixture
def lab(tmp_path):
    """A scratch place; whatever runs in it is killed at the end."""
    place = Lab(tmp_path)
    yield place
    place.close()


@pytest.fixture
def nodes(tmp_path):
    """Two nodes; for tests that ask first whether this machine can have them."""
    made = Cluster(tmp_path / "cluster", 2)
    yield made
    made.close()


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
