# SPDX-License-Identifier: BSD-3-Clause
"""conftest.py - fixtures and options that the end-to-end tests share."""

import contextlib
import fcntl
import hashlib
import faulthandler
import itertools
import os
import pickle
import shutil
import signal
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from ckpttest import scheduling  # noqa: E402  (needs the path)
from ckpttest.cluster import Cluster  # noqa: E402
from ckpttest.lab import Lab  # noqa: E402
from ckpttest.mpis import OPENMPI5  # noqa: E402

LONGEST_TEST = 600  # seconds

FAILED = pytest.StashKey[bool]()  # whether the setup or the call of a test has failed

# Tests whose ranks never pause: in parallel they would take each other's cores. Tests in these
# files that mostly wait are marked `waiting`.
BUSY = {
    "test_agent",
    "test_campaigns",
    "test_files",
    "test_fortran",
    "test_guards",
    "test_mpi4py",
    "test_openmpi5",
    "test_snapshot",
    "test_stagger",
    "test_threads",
}

# Tests that may run in parallel with others, but no more of them than there are processors: their
# ranks compute for some seconds.
COMPUTING = {
    "test_incremental",
    "test_places",
    "test_protection",
    "test_run",
    "test_sharing",
    "test_trace",
    "test_windows",
    "test_workloads",
}


def pytest_configure(config):
    config.addinivalue_line("markers", "busy: to be run alone")
    config.addinivalue_line("markers", "waiting: not busy, unlike others in the file")
    if not hasattr(config, "workerinput"):  # for all workers of pytest-xdist
        settings = contextlib.ExitStack()
        settings.enter_context(scheduling.no_groups())
        config.add_cleanup(settings.close)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    processors = itertools.cycle(range(os.cpu_count()))
    for item in items:
        if item.path.stem in COMPUTING:
            item.add_marker(pytest.mark.xdist_group(f"processor {next(processors)}"))
        if item.path.stem in BUSY and not item.get_closest_marker("waiting"):
            item.add_marker("busy")


@pytest.fixture(autouse=True)
def no_test_stands_still():
    """A test that waits without a limit of its own fails, instead of stopping all others."""

    if threading.current_thread() is not threading.main_thread():
        # A worker of xdist runs its tests on another thread now and then (execnet before 2.1).
        faulthandler.dump_traceback_later(LONGEST_TEST, exit=True, file=sys.__stderr__)
        yield
        faulthandler.cancel_dump_traceback_later()
        return

    def give_up(*_):
        raise TimeoutError(f"the test has run for {LONGEST_TEST} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(LONGEST_TEST)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    report = (yield).get_result()
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed


@pytest.fixture
def tmp_path(tmp_path, request):
    """The scratch directory of a test. Only a failed test leaves it: all of them have 10 GB."""
    yield tmp_path
    if not request.node.stash[FAILED]:
        shutil.rmtree(tmp_path)


@pytest.fixture
def lab(tmp_path):
    """A lab; all its processes are killed at the end."""
    place = Lab(tmp_path, holds=True)
    yield place
    place.close()


@pytest.fixture
def nodes(tmp_path):
    """Two nodes; for tests that first check whether this machine can have nodes."""
    made = Cluster(tmp_path / "cluster", 2)
    yield made
    made.close()


@pytest.fixture
def box(tmp_path):
    """Three nodes, and a fourth without ranks for commands; likewise."""
    made = Cluster(tmp_path / "cluster", 3)
    yield made
    made.close()


@pytest.fixture
def lab5(tmp_path):
    """A lab that uses mpirun of Open MPI 5.0."""
    lab = Lab(tmp_path, mpirun=OPENMPI5.mpirun, holds=True, **OPENMPI5.settings())
    yield lab
    lab.close()


@pytest.fixture(scope="session")
def native(tmp_path_factory, worker_id):
    """Answers of uninterrupted runs. Each is made once, by the first pytest-xdist worker that wants
    it."""
    base = tmp_path_factory.getbasetemp()
    answers = (base if worker_id == "master" else base.parent) / "answers"
    answers.mkdir(exist_ok=True)

    def run(program):
        key = repr((program.name, program.ranks, *map(str, program.argv)))
        path = answers / hashlib.sha256(key.encode()).hexdigest()
        with open(path, "a+b") as file:  # other workers wait while one makes the answer
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            if content := file.read():
                return pickle.loads(content)
            place = Lab(tmp_path_factory.mktemp("native"))
            try:
                outcome = place.run_native(program)
            finally:
                place.close()
            pickle.dump(outcome, file)
            return outcome

    return run
