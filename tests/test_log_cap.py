# SPDX-License-Identifier: BSD-3-Clause
"""`ckpt run --protocol independent`: limits for logs and independent checkpoints. If a rank takes
no independent checkpoint, all ranks are saved. Ranks that learn late of others' checkpoints log
more, and roll back as well."""

import json
import os
import signal

import pytest

from ckpttest import non_mpi, replays, windows
from ckpttest.lab import POLL
from ckpttest.settings import FULL

# The ranks wait without pause: parallel tests would take each other's processor time.
pytestmark = pytest.mark.xdist_group("independent")

RANKS = 3
JOB = f"cap-{os.getpid()}"  # ckpt finds jobs of a name wherever they are
MEBIBYTE = 1 << 20
LIMIT = 32 * MEBIBYTE  # bytes of a log: half of its capacity
MOST_COPIES = 4  # independent checkpoints of a rank


@pytest.fixture(name="expected", scope="module")
def without_failures(tmp_path_factory):
    return windows.results_in_one_rank(tmp_path_factory)


def status_of(lab, name=JOB):
    """Returns the status of the job while its ranks run, or None."""
    found = lab.ckpt("status", name, "--json")
    if found.returncode != 0:
        return None
    (status,) = json.loads(found.stdout)
    is_complete = all(len(status.get(key, [])) == RANKS for key in ("ranks", "independent"))
    return status if is_complete else None


def pid_of(status, rank):
    return next(one["pid"] for one in status["ranks"] if one["rank"] == rank)


def wait_for_cap(lab, job):
    """Waits until all ranks have been saved because of the limit, and ranks that make calls can be
    replayed."""

    def is_capped():
        status = status_of(lab)
        if status is None or status["capped"]["taken"] == 0:
            return None
        return status if all(one["replayable"] for one in status["independent"][1:]) else None

    return non_mpi.wait_until(job, is_capped)


@pytest.mark.parametrize("victim", [0, 1] if FULL else [0])
def test_a_rank_takes_no_checkpoint_of_itself(lab, expected, victim):
    """Rank 0 computes without a call, so the others' small logs fill with data for its replay. All
    ranks are therefore saved, and the killed rank rolls back to that checkpoint at most."""
    size = (24000, 100)
    program = windows.program("absent", *size, ranks=RANKS)
    job = replays.start(lab, JOB, program, CKPT_LOG_LIMIT=MEBIBYTE)
    status = wait_for_cap(lab, job)
    newest = status["committed"]
    assert status["capped"]["ranks"] == [0]
    assert status["capped"]["number"] == newest >= 1
    assert [one["asked"] for one in status["independent"]] == [True, False, False]
    logs = [path.read_text() for path in (lab.store / JOB).glob("ckptd-*.log")]
    assert any("did not take the requested independent checkpoint" in text for text in logs)
    os.kill(pid_of(status, victim), signal.SIGKILL)
    if victim == 0:
        job.wait_for("^ckpt: rank 0 .*; it is not replayed: a log lacks what rank 0 would need")
    else:
        job.wait_for(f"^ckpt: rank {victim} .*; it is replayed")
        newest += 1
    job.wait_for(f"^ckpt: rank {victim} .*; restart 1 of at most 10, from {JOB}/{newest}")
    job.succeed(replays.LONG)
    assert lab.answer(program, job) == expected("absent", *size)


def test_balanced_ranks_have_few_copies(lab, expected):
    """Their logs stay below the limit: no rank is saved because of others."""
    size = (20000, 256)
    program = windows.program("stencil", *size, ranks=RANKS, way=["--mode=lock"])
    job = replays.start(lab, JOB, program)
    job.let_end()
    samples = []
    while job.run_on(POLL):
        if status := status_of(lab):
            samples.append(status)
    job.succeed(replays.LONG)
    assert lab.answer(program, job) == expected("stencil", *size)
    assert min(one["kept"] for one in samples[-1]["independent"]) > MOST_COPIES
    assert samples[-1]["capped"]["taken"] == 0
    ranks = [rank for status in samples for rank in status["independent"]]
    assert max(rank["copies"] for rank in ranks) in range(1, MOST_COPIES + 1)
    assert max(rank["log_bytes"] for rank in ranks) < LIMIT


def largest_log(lab, job, name):
    """Returns the largest log of any rank, in bytes, until each has had two dozen independent
    checkpoints; and the last status."""
    largest = 0

    def is_enough():
        nonlocal largest
        status = status_of(lab, name)
        if status is None:
            return None
        largest = max(largest, *(rank["log_bytes"] for rank in status["independent"]))
        return status if min(rank["kept"] for rank in status["independent"]) >= 24 else None

    return non_mpi.wait_until(job, is_enough), largest


def test_what_others_have_saved_becomes_known_late(lab, expected):
    """Nine of ten checkpoints are not announced: logs are longer, and a rank is replayed all the
    same. (The program computes more than it logs. Otherwise it logs much between two checkpoints of
    resting ranks, depending on the machine's load.)"""
    size = (12000, 512)
    program = windows.program("stencil", *size, ranks=RANKS, way=["--mode=lock"])
    job = replays.start(lab, f"{JOB}-told", program)
    _, told = largest_log(lab, job, f"{JOB}-told")
    job.kill()
    job = replays.start(lab, JOB, program, CKPT_FAULT="rank-tells-seldom")
    status, seldom = largest_log(lab, job, JOB)
    assert seldom > 2 * told, f"{seldom} bytes instead of {told}"
    assert replays.is_replayable(status)
    os.kill(pid_of(status, 1), signal.SIGKILL)
    job.wait_for("^ckpt: rank 1 .*; it is replayed")
    job.succeed(replays.LONG)
    assert lab.answer(program, job) == expected("stencil", *size)
    print(f"largest log: {told} bytes, told seldom {seldom}")
