# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoint requests by way of PMIx (docs/pmix.md); the tests under Slurm are in test_slurm.py."""

import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from ckpttest import cluster, pmix, processes, programs
from ckpttest.lab import Lab
from ckpttest.mpis import OPENMPI5
from ckpttest.settings import TIMEOUT
from ckpttest.settings import OPENMPI5 as PREFIX

LIBRARIES = PREFIX / "lib/openmpi"

needs_5 = pytest.mark.skipif(
    not OPENMPI5.installed, reason="no Open MPI 5.0 (see setup)"
)


@pytest.fixture
def stop(tmp_path):
    return tmp_path / "stop"


class NotifyingLab(Lab):
    """Jobs outlive their ranks, and their server reports the ranks that end."""

    def mpirun_command(self, program, *options):
        notify = ["--rtos", "recoverable,notifyerrors"]
        return super().mpirun_command(program, *notify, *options)


def wait_for(condition, job):
    """Waits until the condition is true, while the job runs."""
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, "it has not come"
        assert job.run_on(0.05), "the job has ended"


def status_of(lab, job):
    job.wait_for("^tick")
    lab.wait_for_agent(job)
    (status,) = lab.ckpt_json("status", job.pid)
    return status


def ask(lab, job, *ranks, **more):
    """Sends a request to ranks of the job; returns the status of the answer."""
    return pmix.answer_in(
        pmix.ask_as_tool(status_of(lab, job), LIBRARIES, *ranks, **more)
    )


def end(job, stop):
    """Ends the job; mpirun must end, too: the requests have not stopped it."""
    stop.touch()
    assert any(line.startswith("OK ") for line in job.succeed())
    stop.unlink()


@needs_5
@pytest.mark.parametrize("ranks", [(), (0,), (1, 2)], ids=["all", "first", "others"])
def test_request(lab5, stop, ranks):
    """Whichever ranks are asked, there is one checkpoint, and the requester gets the answer."""
    job = lab5.start(programs.idle(stop, 3))
    assert ask(lab5, job, *ranks) == pmix.COMPLETE
    assert len(lab5.checkpoints()) == 1
    end(job, stop)


@needs_5
def test_default_event(lab5, stop):
    """The manager works whether or not other handlers process the event."""
    job = lab5.start(programs.idle(stop))
    assert ask(lab5, job, MANAGER_DEFAULT=1) == pmix.COMPLETE
    assert len(lab5.checkpoints()) == 1
    end(job, stop)


@needs_5
def test_restarted(lab5, stop):
    """A restarted job answers requests through the server of its new launch."""
    first = lab5.start(programs.idle(stop))
    assert ask(lab5, first) == pmix.COMPLETE
    first.kill()
    second = lab5.restart()
    assert ask(lab5, second) == pmix.COMPLETE
    assert len(lab5.checkpoints()) == 2
    end(second, stop)


@needs_5
def test_refused(lab5, stop):
    """A refusal is reported, and harms no process."""
    job = lab5.start(programs.idle(stop))
    directory = lab5.store / status_of(lab5, job)["job"]
    directory.rename(aside := lab5.directory / "aside")
    directory.touch()
    assert ask(lab5, job) == pmix.FAILED
    directory.unlink()
    aside.rename(directory)
    assert lab5.checkpoint(job)["name"]
    end(job, stop)


def test_openmpi4(lab, stop):
    """The server of Open MPI 4 delivers the event on a node. mpirun never tells the requester that
    it has received an event. It would never end if we sent it another event as the answer."""
    job = lab.start(programs.idle(stop))
    assert status_of(lab, job)["pmix"].startswith("OpenPMIx 4.")
    command = [str(word) for word in pmix.command_of_client(job.ranks(), 1)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as manager:
        wait_for(lab.checkpoints, job)
        manager.kill()
    end(job, stop)


@needs_5
def test_second_opinion(tmp_path, stop):
    """The agent's log has PMIx's report of a rank's end, beside the agent's own."""
    lab = NotifyingLab(tmp_path, mpirun=OPENMPI5.mpirun, holds=True, **OPENMPI5.settings())
    try:
        job = lab.start(programs.idle(stop))
        name = status_of(lab, job)["job"]
        processes.kill(job.ranks()[1])
        log = lab.store / name / f"ckptd-{os.uname().nodename}.log"
        for text in (r"rank 1 has gone", r"PMIx: rank 1 has ended \(error -402\)"):
            wait_for(lambda text=text: re.search(text, log.read_text("utf-8")), job)
    finally:
        lab.close()


# ---- ckpt checkpoint --pmix ---------------------------------------------------------


@needs_5
def test_ckpt_as_tool(lab5, stop):
    """`ckpt` sends a request like a manager. mpirun takes no second connection once it has noticed
    the end of the first, and would not end after that. Before, it takes one."""
    job = lab5.start(programs.idle(stop))
    name = status_of(lab5, job)["job"]
    done = lab5.ckpt("checkpoint", "--pmix", job.pid)
    assert (done.returncode, done.stdout) == (0, f"{name}/1\n"), done
    again = lab5.ckpt("checkpoint", "--pmix", name)
    if again.returncode == 0:
        assert again.stdout == f"{name}/2\n"
    else:
        assert again.returncode == 4
        assert f"mpirun {job.pid} takes no connection" in again.stderr
    assert lab5.checkpoint(job)["number"] == (3 if again.returncode == 0 else 2)
    end(job, stop)


@needs_5
def test_ckpt_as_tool_finds_the_server(lab5, stop, tmp_path):
    """`ckpt` looks where mpirun keeps its files, and does not search all of a directory."""
    job = lab5.start(programs.idle(stop))
    name = status_of(lab5, job)["job"]
    (tmp_path / "other").mkdir()
    done = lab5.ckpt("checkpoint", "--pmix", job.pid, TMPDIR=tmp_path / "other")
    assert (done.returncode, done.stdout) == (0, f"{name}/1\n"), done
    end(job, stop)


@needs_5
def test_ckpt_as_tool_refused(lab5, stop):
    """`ckpt` reports the agent's reason."""
    job = lab5.start(programs.idle(stop))
    directory = lab5.store / status_of(lab5, job)["job"]
    directory.rename(lab5.directory / "aside")
    directory.touch()
    done = lab5.ckpt("checkpoint", "--pmix", job.pid)
    assert done.returncode == 4
    assert str(directory) in done.stderr, done
    end(job, stop)


@needs_5
def test_ckpt_as_tool_unheard(lab5, stop):
    """A job without checkpoints does not answer. mpirun does not end while a tool is connected. So
    the tool disconnects when the job is over, even if it has just connected."""
    job = lab5.start_native(programs.idle(stop))
    job.wait_for("^tick")
    asking = lab5.ckpt_in_background("checkpoint", "--pmix", job.pid)
    maps = Path(f"/proc/{asking.pid}/maps")
    wait_for(lambda: "libpmix.so" in maps.read_text("utf-8"), job)
    end(job, stop)
    _, errors = asking.communicate(timeout=TIMEOUT)
    assert asking.returncode in (3, 4)
    assert "has ended" in errors


def test_no_tool_of_openmpi4(lab, stop):
    """`ckpt` does not even try: mpirun 4.1 can crash when a tool connects."""
    job = lab.start(programs.idle(stop))
    status_of(lab, job)
    done = lab.ckpt("checkpoint", "--pmix", job.pid)
    assert done.returncode == 4
    assert "mpirun of Open MPI 4" in done.stderr
    assert not lab.checkpoints()
    end(job, stop)


@needs_5
@pytest.mark.skipif(
    not cluster.is_possible(), reason="no network namespaces for this user"
)
def test_ranks_elsewhere(nodes, tmp_path, stop):
    """On the node of mpirun, which has no agent, the server is reachable."""
    settings = {
        "PRTE_MCA_plm": "ssh",
        "PRTE_MCA_plm_ssh_agent": nodes.enter,
        "PRTE_MCA_prte_if_include": "eth0",
        "PRTE_MCA_prte_tmpdir_base": nodes.scratch,
        "OMPI_MCA_btl": "tcp,self,sm",
    }
    lab = nodes.lab(tmp_path / "lab", head=True)
    lab.mpirun = OPENMPI5.mpirun
    lab.settings.update(**OPENMPI5.settings(), **settings)
    try:
        job = lab.start(programs.idle(stop), CKPT_NAME="job")
        job.wait_for("^tick")
        (mpirun,) = (
            pid
            for pid in nodes.processes(cluster.HEAD)
            if processes.name_of(pid) == "prterun"
        )
        assert "use ckpt there" in lab.ckpt("checkpoint", "job").stderr
        done = lab.ckpt("checkpoint", "--pmix", mpirun)
        assert (done.returncode, done.stdout) == (0, "job/1\n"), done
        end(job, stop)
    finally:
        lab.close()
