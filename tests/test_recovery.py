# SPDX-License-Identifier: BSD-3-Clause
"""Recovery in place: a rank dies, and the frozen copies of all ranks become the ranks, without a
new launch (docs/recovery.md)."""

import os
import re
import signal

import pytest

from ckpttest import non_mpi, processes, programs
from ckpttest.lab import Lab
from ckpttest.mpis import OPENMPI4, OPENMPI5
from ckpttest.settings import TIMEOUT

MPIS = [mpi for mpi in (OPENMPI4, OPENMPI5) if mpi.installed]
OPTIONS = ["--keep-copies", "yes", "--interval", "0"]
RECOVERED = r"ckpt: rank \d+ has died; all ranks have gone back to checkpoint (\d+) in place"


@pytest.fixture(name="lab", params=MPIS, ids=lambda mpi: mpi.name)
def lab_with_library(request, tmp_path):
    """A lab whose jobs need no launcher."""
    mpi = request.param
    settings = mpi.settings()
    if mpi.prefix:
        settings["CKPT_LIBMPI"] = f"{mpi.prefix}/lib/libmpi.so.40"
        settings["OPAL_PREFIX"] = mpi.prefix
    lab = Lab(tmp_path, mpi.mpirun, **settings)
    yield lab
    lab.close()


def start(lab, program, options=()):
    """Starts the program under `ckpt run --ranks` with kept copies."""
    program.prepare(lab.work)
    options = ["-n", program.ranks, *OPTIONS, *options]
    return non_mpi.start(lab, *program.argv, options=options)


def checkpoint(lab, job):
    """Takes a checkpoint, and waits until the next world is there."""
    done = lab.ckpt("checkpoint", non_mpi.name(lab))
    assert done.returncode == 0, done
    return non_mpi.wait_until(job, lambda: ranks_of(lab))


def ranks_of(lab):
    """Returns the process ids of the ranks, if all are there."""
    found = non_mpi.status(lab)
    if not found or len(found["ranks"]) != found["rank_count"]:
        return None
    return [rank["pid"] for rank in found["ranks"]]


@pytest.mark.parametrize("victim", [0, 1])
def test_all_ranks_go_back_in_place(lab, victim):
    """The launcher and the agent are the same; the answer is right."""
    stop = lab.work / "stop"
    program = programs.traffic(0, 2, stop)
    job = start(lab, program)
    job.wait_for(program.progress)
    for _ in range(3):
        ranks = checkpoint(lab, job)
        before = non_mpi.status(lab)
        os.kill(ranks[victim], signal.SIGKILL)
        job.wait_for(RECOVERED)
        after = non_mpi.wait_until(job, lambda: ranks_of(lab))
        assert not set(after) & set(ranks)
        assert non_mpi.status(lab)["agent_pid"] == before["agent_pid"]
        job.wait_for(program.progress)
    stop.touch()
    assert any(line.startswith("OK ") for line in job.succeed())
    assert not [line for line in job.lines if re.search(r"ckpt: .*restart", line)], job.lines
    started = processes.started_with("CKPT_DIR", lab.environment()["CKPT_DIR"])
    assert processes.wait_until_gone([pid for pid in started if pid != job.pid], TIMEOUT)
