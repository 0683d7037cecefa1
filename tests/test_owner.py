# SPDX-License-Identifier: BSD-3-Clause
"""A job has one owner at a time: after a power failure, in another container, and when two users
restart it at once."""

import json
import os
import signal

import pytest

from ckpttest import processes, programs, refusals
from ckpttest.settings import TIMEOUT

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="makes name spaces")


def job_file(lab):
    (path,) = lab.store.glob("*/job.json")
    return path


def save_and_lose_power(lab, job):
    """Takes a checkpoint, then kills all of the job's processes at once, the agent first."""
    lab.checkpoint(job)
    (status,) = lab.ckpt_json("status", job.pid)
    lose_power(job, status["agent_pid"])


def lose_power(job, agent):
    os.kill(agent, signal.SIGKILL)
    job.kill()
    assert processes.wait_until_gone([agent], TIMEOUT)


def test_of_two_restarts_one_goes_on(lab):
    job = lab.start(programs.ring(10**8))
    job.wait_for("^step")
    save_and_lose_power(lab, job)
    assert json.loads(job_file(lab).read_text(encoding="utf-8"))["state"] == "running"
    both = [lab.restart(), lab.restart()]
    codes = {}
    while not codes:
        codes = {one: one.process.poll() for one in both if not one.run_on(0.05)}
    (refused,) = codes
    (other,) = set(both) - {refused}
    assert refused.finish() == 4
    assert any(line.endswith("[job-running]") for line in refused.lines)
    other.wait_for("^step")
    lab.checkpoint(other)


@as_root
def test_a_node_that_lost_power_does_not_hold_its_job(lab):
    job = lab.start(programs.ring(10**8))
    job.wait_for("^step")
    save_and_lose_power(lab, job)
    lab.wrap = lambda command: ["unshare", "--uts", "sh", "-c",
                                'hostname elsewhere; exec "$@"', "sh", *command]
    again = lab.restart()
    again.wait_for("^step")
    refused = lab.ckpt("restart")
    assert refused.returncode == 4
    assert refusals.identity(refused.stderr) == "job-running"


@as_root
def test_a_container_that_is_gone_does_not_hold_its_job(lab):
    """The container's process ids mean nothing outside: another process may have the id of the old
    agent."""
    contained = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    lab.wrap = lambda command: [*contained, *command]
    job = lab.start(programs.ring(10**8), CKPT_INTERVAL="0.5s", CKPT_NAME="contained")
    job.wait_for("^step")
    while not lab.checkpoints():
        assert job.run_on(0.05)
    job.kill()
    again = lab.restart()
    again.wait_for("^step")


def test_two_nodes_of_one_name_are_refused(lab):
    """Their pieces would overwrite each other. The program goes on."""
    node = lab.directory / "node"
    node.write_text(
        "#!/bin/sh\n"
        f"export CKPT_RUN_DIR={lab.directory}/run$OMPI_COMM_WORLD_RANK\n"
        "export CKPT_HOST=same CKPT_NODES=2\n"
        'exec "$@"\n',
        encoding="utf-8",
    )
    node.chmod(0o755)
    for rank in range(2):
        (lab.directory / f"run{rank}").mkdir(mode=0o700)
    program = programs.ring(10**8)
    program.argv = [node, *program.argv]
    job = lab.start(program)
    job.wait_for("^step")
    refused = lab.ckpt("checkpoint", job.pid, CKPT_RUN_DIR=lab.directory / "run0")
    assert refused.returncode != 0
    assert refusals.identity(refused.stderr) == "same-host-names"
    assert "name same" in refused.stderr
    job.wait_for("^step")
