# SPDX-License-Identifier: BSD-3-Clause
"""The file server of the checkpoints does not answer: the program and its agent go on."""

import contextlib
import threading

import pytest

from ckpttest import cluster, non_mpi, programs
from ckpttest.lab import Lab
from ckpttest.settings import TIMEOUT

pytestmark = pytest.mark.skipif(
    not cluster.can_serve_files(), reason="no sshfs for this user"
)

ATTEMPT = 3  # seconds of an attempt


@pytest.fixture(name="served")
def fixture_served(tmp_path):
    """A lab whose checkpoints are on a file server, and the server."""
    place = Lab(tmp_path / "lab", holds=True, CKPT_TIMEOUT=f"{ATTEMPT}s")
    with cluster.file_server(tmp_path / "served", place.store) as server:
        # Nothing can end a process that waits for the server. A test's own waits end before.
        rescue = threading.Timer(3 * TIMEOUT, server.go_on)
        rescue.start()
        yield place, server
        rescue.cancel()
        server.go_on()
        place.close()


def program():
    """It tells its progress often and does not end. Its pauses let all ranks reach a cut within an
    attempt, also where many processes share the cores."""
    return programs.memory(1, 10**8, pause_us=2000)


def more_steps(job):
    """The program computes while the server hangs."""
    seen = len(job.lines)
    non_mpi.wait_until(job, lambda: len(job.lines) > seen + 3)


def save_soon(lab, job):
    """Repeats a request: a server that goes on is busy at first, and each attempt has a time
    limit."""
    non_mpi.wait_until(job, lambda: lab.ckpt("checkpoint", job.pid).returncode == 0)


@pytest.mark.parametrize("protocol", ["sns", "cl", "ns"])
def test_a_server_that_hangs(served, protocol):
    """An attempt fails at its timeout; the agent answers; later attempts succeed."""
    lab, server = served
    job = lab.start(program(), CKPT_PROTOCOL=protocol)
    job.wait_for("^step")
    lab.checkpoint(job)
    server.stop()
    for _ in range(2):
        failed = lab.ckpt("checkpoint", job.pid, timeout=10 * ATTEMPT)
        assert failed.returncode == 4, failed
        assert f"not done after {ATTEMPT} s" in failed.stderr
        assert "does not answer" in failed.stderr
        more_steps(job)
        (status,) = lab.ckpt_json("status", job.pid)
        assert status["agent_pid"]
    server.go_on()
    save_soon(lab, job)
    job.kill()
    again = lab.restart()
    again.wait_for("^step")


def test_a_job_that_starts(served):
    """The server hangs already: the program runs all the same, and requests are refused at their
    timeout. The job is saved as soon as the server goes on."""
    lab, server = served
    server.stop()
    job = lab.start(program())
    job.wait_for("^step")
    (status,) = lab.ckpt_json("status", job.pid)
    assert (status["phase"], status["rank_count"]) == ("running", 2)
    assert "does not answer" in status["last_error"]
    failed = lab.ckpt("checkpoint", job.pid, timeout=10 * ATTEMPT)
    assert failed.returncode == 4, failed
    assert f"not done after {ATTEMPT}" in failed.stderr
    assert f"the file system of {lab.store} does not answer" in failed.stderr
    more_steps(job)
    server.go_on()
    save_soon(lab, job)
    job.kill()
    lab.restart().wait_for("^step")


def test_periodic_checkpoints_of_a_job_that_starts(served):
    """Messages say since when the job is unprotected; later checkpoints protect it without a
    request."""
    lab, server = served
    server.stop()
    job = lab.start(program(), CKPT_INTERVAL="1s")
    job.wait_for("^step")

    def status():
        return lab.ckpt_json("status", job.pid)[0]

    assert status()["unprotected_since"] > 0
    assert "UNPROTECTED since" in lab.ckpt("status", job.pid).stdout
    server.go_on()
    non_mpi.wait_until(job, lambda: status()["committed"] > 0)
    assert status()["unprotected_since"] == 0


def test_commands_that_name_no_job(served):
    """The commands find the only job without the server, or say that they wait for the server."""
    lab, server = served
    job = lab.start(program())
    job.wait_for("^step")
    lab.checkpoint(job)
    server.stop()
    failed = lab.ckpt("checkpoint", timeout=10 * ATTEMPT)
    assert failed.returncode == 4, failed
    assert "does not answer" in failed.stderr
    lines = (["status"], ["list"], ["run", "--", "true"])
    waiting = [lab.ckpt_in_background(*words) for words in lines]
    assert "2 ranks of" in waiting[0].stdout.readline()  # running jobs are listed at once
    notice = f"ckpt: waiting for the file system of {lab.store}\n"
    assert [command.stderr.readline() for command in waiting] == [notice] * 3
    server.go_on()
    assert [command.wait(TIMEOUT) for command in waiting] == [0] * 3


@pytest.mark.parametrize("names_job", [True, False])
def test_commands_for_another_job(served, tmp_path, names_job):
    """A command accesses the directories that it names, not those of the user's other jobs."""
    lab, server = served
    there = lab.start(program())
    there.wait_for("^step")
    lab.checkpoint(there)
    with contextlib.closing(Lab(tmp_path / "other")) as other:
        link = tmp_path / "link"
        link.symlink_to(other.store)
        here = other.start(program())
        here.wait_for("^step")
        server.stop()
        done = other.ckpt("checkpoint", *[here.pid] * names_job, CKPT_DIR=link)
        server.go_on()
        assert done.returncode == 0, done


def test_the_program_ends(served, tmp_path):
    """The program ends while the server hangs."""
    lab, server = served
    stop_file = tmp_path / "stop"
    job = lab.start(programs.churn(0, stop_file=stop_file))
    job.wait_for("^step")
    save_soon(lab, job)  # its ranks never pause
    server.stop()
    stop_file.touch()
    job.succeed()


def test_a_program_that_starts_and_ends(served):
    """The program starts and ends while the server hangs; its messages are written later."""
    lab, server = served
    server.stop()
    lab.start(programs.churn(100)).succeed()
    server.go_on()
