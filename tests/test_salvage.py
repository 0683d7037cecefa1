# SPDX-License-Identifier: BSD-3-Clause
"""`ckpt run --protocol independent`: one rank dies, and the others are saved as they are. The ranks
are processes that speak the plugin's protocol with their agent and obey lines of commands
(launcher/tests/agent/fake_rank.cpp); their checkpoints cannot be restarted. However the processes
of a job end, the job ends as without the protocol."""

import json
import os
import signal
import time

import pytest

from ckpttest import processes, programs
from ckpttest.mpis import OPENMPI5
from ckpttest.settings import BUILD, INSTALL, TIMEOUT

NAME = "job"
RANKS = 3
DEAD = 1
LAUNCHERS = [
    "lab",
    pytest.param(
        "lab5",
        marks=pytest.mark.skipif(
            not OPENMPI5.installed, reason="no Open MPI 5.0 (see setup)"
        ),
    ),
]

WRAPPER = f"""#!/bin/sh
r=$OMPI_COMM_WORLD_RANK
echo $$ >pid.$r
unset LD_PRELOAD  # by which signals are the plugin's
exec {BUILD}/launcher/tests/fake_rank $r {RANKS} fake-$PMIX_NAMESPACE \
    {INSTALL}/lib/ckpt/ckptd "" 1 "" <in.$r >out.$r
"""

# The ends of a process with the number $r.
ENDS = {
    "well": "exit 0",
    "code": "test $r = 1 && exit 3; sleep 1",
    "signal": "test $r = 1 && kill -9 $$; sleep 1",
    "late": "test $r = 1 && { sleep 0.3; exit 3; }; exec sleep 1000",
}


@pytest.fixture(name="place", params=LAUNCHERS)
def lab_of_each_launcher(request):
    """A lab for each mpirun that goes on without a rank."""
    return request.getfixturevalue(request.param)


def run(lab, *command, **more):
    """Starts the command as the job NAME."""
    line = [lab.ckpt_program, "run", "--name", NAME, "--max-restarts", "0"]
    # pylint: disable-next=protected-access
    return lab._start(
        [*line, "--", lab.mpirun, "--oversubscribe", "-np", RANKS, *command], more
    )


class FakeJob:
    """A job of fake ranks under `ckpt run`."""

    def __init__(self, lab, **more):
        self.lab = lab
        script = lab.work / "rank"
        script.write_text(WRAPPER)
        script.chmod(0o700)
        self.orders = []
        for rank in range(RANKS):
            os.mkfifo(lab.work / f"in.{rank}")
            self.orders.append(os.open(lab.work / f"in.{rank}", os.O_RDWR))
        page = lab.work / "page"
        self.job = run(
            lab, script, CKPT_PROTOCOL="independent", FAKE_PAGE=page, **more
        )
        log = lab.store / NAME
        self.until(lambda: self.known(log), "ckpt run knows of all ranks")

    @staticmethod
    def known(log):
        """Whether the agent has called and has reported each rank."""
        texts = [path.read_text() for path in log.glob("ckptd-*.log")]
        words = ["knows of this node", *(f"rank {rank} of" for rank in range(RANKS))]
        return any(all(word in text for word in words) for text in texts)

    def until(self, condition, what):
        """Waits until the condition is true."""
        deadline = time.monotonic() + TIMEOUT
        while not condition():
            assert time.monotonic() < deadline, f"not before {TIMEOUT} s: {what}"
            assert self.job.run_on(0.02), f"it has ended before: {what}\n{self.job.lines}"

    def keep(self, rank):
        """Makes a rank take an independent checkpoint."""
        out = self.lab.work / f"out.{rank}"
        os.write(self.orders[rank], b"keep\n")
        self.until(lambda: "kept " in out.read_text(), f"rank {rank} has kept a copy")

    def kill(self, rank):
        """SIGKILL to a rank."""
        processes.kill(int((self.lab.work / f"pid.{rank}").read_text()))

    def close(self):
        """Ends the ranks."""
        for order in self.orders:
            os.close(order)

    def manifests(self):
        """Returns the manifests of all checkpoints."""
        paths = sorted((self.lab.store / NAME).glob("*/manifest.json"))
        return [json.loads(path.read_text()) for path in paths]


@pytest.fixture(name="start")
def start_of_fakes(place):
    """Returns a function that starts a job of fake ranks."""
    jobs = []

    def start(**more):
        jobs.append(FakeJob(place, **more))
        return jobs[-1]

    yield start
    for job in jobs:
        job.close()


def test_the_others_are_saved(start):
    fake = start()
    for rank in range(RANKS):
        fake.keep(rank)
    fake.kill(DEAD)
    fake.job.wait_for(
        f"^ckpt: rank {DEAD} on .* was killed by signal 9 .*; it is replayed, "
        "the others are saved as number 1"
    )
    assert fake.job.finish() == 128 + signal.SIGKILL
    (manifest,) = fake.manifests()
    assert manifest["replayed"] == [DEAD]
    listed = fake.lab.ckpt("list", NAME)
    assert f"{NAME}/1" in listed.stdout, listed
    assert f"replayed     rank {DEAD}" in fake.lab.ckpt("inspect", f"{NAME}/1").stdout


def test_no_copy(start):
    """Without an independent checkpoint of the dead rank, the job ends as without the protocol."""
    fake = start()
    fake.kill(DEAD)
    fake.job.wait_for("; it is not replayed: rank 1 has no independent checkpoint")
    assert fake.job.finish() == 128 + signal.SIGKILL
    assert not fake.manifests()


@pytest.mark.parametrize("fault", ["agent-at-salvage", "agent-before-manifest"])
def test_the_agent_dies(start, fault):
    """The agent dies while it saves the other ranks."""
    fake = start(CKPT_FAULT=fault)
    fake.keep(DEAD)
    fake.kill(DEAD)
    fake.job.wait_for("; it is not replayed: the agent has died")
    assert fake.job.finish() == 128 + signal.SIGKILL
    assert not fake.manifests()


@pytest.mark.parametrize("end", ENDS)
def test_processes_end_before_they_are_ranks(place, end):
    """The exit code is the same as without the protocol."""
    command = ["sh", "-c", f"r=$OMPI_COMM_WORLD_RANK; {ENDS[end]}"]
    code = run(place, *command).finish()
    assert run(place, *command, CKPT_PROTOCOL="independent").finish() == code


@pytest.mark.parametrize(
    "how", ["killed", "exit", "abort", "finalized", "unfinalized"]
)
def test_ranks_end(place, how):
    """The exit code is the same as without the protocol. A rank that has just forgotten
    MPI_Finalize exits with 0, so each mpirun makes up another code."""
    command = programs.ends(how).argv
    without = run(place, *command).finish()
    code = run(place, *command, CKPT_PROTOCOL="independent").finish()
    assert 0 not in (without, code)
    assert code == without or how == "unfinalized"


def test_a_real_job_goes_back_to_its_newest_checkpoint(lab, native):
    program = programs.churn(40000)
    program.prepare(lab.work)
    line = [lab.ckpt_program, "run", "--name", NAME, "--protocol", "independent", "--"]
    # pylint: disable-next=protected-access
    job = lab._start([*line, *lab.mpirun_command(program)], {})
    job.wait_for(program.progress)
    lab.ckpt("checkpoint", NAME)
    (status,) = lab.ckpt_json("status", NAME)  # copies have a rank's name, too
    (pid,) = (rank["pid"] for rank in status["ranks"] if rank["rank"] == 1)
    processes.kill(pid)
    job.wait_for("; it is not replayed: ")
    job.wait_for(f"^ckpt: .*; restart 1 of at most 10, from {NAME}/")
    job.succeed()
    assert lab.answer(program, job) == native(program).answer


def test_other_launchers_are_told_of_once(lab):
    job = lab.ckpt("run", "--protocol", "independent", "--", "true")
    assert job.returncode == 0
    assert job.stderr.count("a rank that dies will not be replayed") == 1
