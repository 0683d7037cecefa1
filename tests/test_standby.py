# SPDX-License-Identifier: BSD-3-Clause
"""Copies that stand by: they have begun MPI in a world of their own, and a recovery in place only
lets them go on (docs/recovery.md)."""

import os
import signal

import pytest

from ckpttest import non_mpi, processes, programs, recoveries

STANDBY = ["--standby", "yes"]


@pytest.fixture(name="lab", params=recoveries.WAYS, ids=recoveries.name_of_way)
def lab_with_library(request, tmp_path):
    """A lab whose jobs need no launcher, or have an mpirun."""
    yield from recoveries.labs_in_way(tmp_path, request.param)


def standing_job(lab, program, **settings):
    """Starts a job whose copies stand by, at its first checkpoint."""
    job = recoveries.start(lab, program, options=STANDBY, mpirun=lab.has_mpirun, **settings)
    job.wait_for(program.progress)
    non_mpi.save(lab)
    recoveries.await_copies(lab, job, "standby")
    return job


def kill_one(lab, job, victim):
    """Kills a rank, and waits until all are back; returns the number of the checkpoint."""
    ranks = non_mpi.wait_until(job, lambda: recoveries.ranks_of(lab))
    os.kill(ranks[victim], signal.SIGKILL)
    return int(job.wait_for(recoveries.RECOVERED)[1])


def log_of(lab):
    """Returns the lines of the agent's log."""
    return "".join(path.read_text() for path in lab.store.glob("*/ckptd-*.log"))


def test_copies_that_stand_go_on(lab):
    """After each recovery and each checkpoint other copies stand by. They are the ranks then."""
    program = programs.traffic(0, 2, lab.work / "stop")
    job = standing_job(lab, program)
    for victim, number in ((0, 1), (1, 1), (0, 2)):
        if non_mpi.newest(lab.store) < number:
            non_mpi.save(lab)
        recoveries.await_copies(lab, job, "standby")
        standing = set(standing_copies(lab))
        assert len(standing) == 2
        assert kill_one(lab, job, victim) == number
        after = non_mpi.wait_until(job, lambda: non_mpi.status(lab))
        assert {rank["pid"] for rank in after["ranks"]} <= standing
        job.wait_for(program.progress)
    recoveries.is_right(lab, job)


def standing_copies(lab):
    """Returns the process ids of copies that have begun MPI: a frozen copy has no other thread."""
    started = processes.started_with("CKPT_DIR", lab.environment()["CKPT_DIR"])
    copies = [pid for pid in started if processes.name_of(pid) == "ckpt-copy"]
    return [pid for pid in copies if len(os.listdir(f"/proc/{pid}/task")) > 1]


def restart_programs(lab):
    """Returns the process ids of the ckpt-restart that wait beside the standing copies."""
    started = processes.started_with("CKPT_DIR", lab.environment()["CKPT_DIR"])
    return [pid for pid in started if processes.name_of(pid) == "ckpt-restart"]


@pytest.mark.parametrize("what", ["copies", "programs", "world"])
def test_end_of_what_stands_is_harmless(lab, what):
    """The program does not notice it. The next recovery is one without copies that stand, or a
    restart."""
    program = programs.traffic(0, 2, lab.work / "stop")
    job = standing_job(lab, program)
    agent = non_mpi.wait_until(job, lambda: non_mpi.status(lab))["agent_pid"]
    children = processes.descendants(agent)  # ckpt-launch has a ckpt-world, too
    victims = {
        "copies": standing_copies(lab),
        "programs": restart_programs(lab)[:1],
        "world": [pid for pid in children if processes.name_of(pid) == "ckpt-world"],
    }[what]
    assert victims
    os.kill(victims[0], signal.SIGKILL)
    non_mpi.wait_until(job, lambda: non_mpi.status(lab)["in_place"]["standby"] == 0)
    job.wait_for(program.progress, count=20)
    assert processes.wait_until_gone(restart_programs(lab), 60)
    ranks = non_mpi.wait_until(job, lambda: recoveries.ranks_of(lab))
    os.kill(ranks[1], signal.SIGKILL)
    if what == "world":  # the next checkpoint starts another one
        job.wait_for("does not recover in place: ckpt-world has ended")
        job.wait_for("restart 1 of at most .*/1$")
    else:
        job.wait_for(recoveries.RECOVERED)
    job.wait_for(program.progress)
    (lab.work / "stop").touch()
    assert any(line.startswith("OK ") for line in job.succeed())
    assert recoveries.nobody_is_left(lab, job)


def test_copies_that_stand_end_with_their_agent(lab):
    """Nothing stays: neither when the agent is killed, nor at the end of the job."""
    program = programs.traffic(0, 2, lab.work / "stop")
    job = standing_job(lab, program)
    copies = [*standing_copies(lab), *restart_programs(lab)]
    agent = non_mpi.wait_until(job, lambda: non_mpi.status(lab))["agent_pid"]
    os.kill(agent, signal.SIGKILL)
    assert processes.wait_until_gone(copies, 60)
    job.wait_for(program.progress, count=20)
    recoveries.is_right(lab, job)


def test_a_new_checkpoint_has_other_copies(lab):
    program = programs.traffic(0, 2, lab.work / "stop")
    job = standing_job(lab, program)
    former = standing_copies(lab)
    assert len(former) == 2
    non_mpi.save(lab)
    assert processes.wait_until_gone(former, 60)
    recoveries.await_copies(lab, job, "standby")
    assert kill_one(lab, job, 0) == 2
    recoveries.is_right(lab, job)


def test_other_copies_take_the_place_of_late_ones(lab):
    """The processors may be too busy for a copy to begin MPI in time."""
    program = programs.traffic(0, 2, lab.work / "stop")
    job = standing_job(lab, program, CKPT_FAULT="standby-late")
    assert log_of(lab).count("no copies stand by: the copies do not come to stand") == 1
    assert kill_one(lab, job, 1) == 1
    recoveries.is_right(lab, job)


def test_shared_objects_leave_no_copy_standing(lab):
    """A copy that cannot stand says why, and the job runs as without the option."""
    program = programs.lookout(0, 4, lab.work / "stop")
    job = recoveries.start(lab, program, options=STANDBY, mpirun=lab.has_mpirun)
    job.wait_for(program.progress)
    non_mpi.save(lab)
    recoveries.await_copies(lab, job)
    non_mpi.wait_until(job, lambda: "no copies stand by: rank" in log_of(lab))
    (lab.work / "stop").touch()
    assert any(line.startswith("OK ") for line in job.succeed())
    assert recoveries.nobody_is_left(lab, job)
