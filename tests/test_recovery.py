# SPDX-License-Identifier: BSD-3-Clause
"""Recovery in place: a rank dies, and the frozen copies of all ranks become the ranks, without a
new launch (docs/recovery.md).

With CKPT_TEST_FULL=1, more programs run."""

import os
import re
import signal

import pytest

from ckpttest import non_mpi, processes, programs, realprograms, recoveries
from ckpttest.lab import Lab
from ckpttest.mpis import OPENMPI4
from ckpttest.settings import APPS, FULL

PROGRAMS = [("hdf5", False), ("lammps2", True)]  # with mpirun or without
if FULL:  # several minutes more
    PROGRAMS += [("lammps2", False), ("hdf5", True)]
    PROGRAMS += [(kind, mpirun) for kind in ("threads", "mpi4py") for mpirun in (False, True)]


@pytest.fixture(name="lab", params=recoveries.WAYS, ids=recoveries.name_of_way)
def lab_with_library(request, tmp_path):
    """A lab whose jobs need no launcher, or have an mpirun."""
    yield from recoveries.labs_in_way(tmp_path, request.param)


def start(lab, program, **settings):
    return recoveries.start(lab, program, mpirun=lab.has_mpirun, **settings)


def kill_one(lab, job, victim):
    """Kills a rank; returns the process ids of all ranks before."""
    ranks = non_mpi.wait_until(job, lambda: recoveries.ranks_of(lab))
    os.kill(ranks[victim], signal.SIGKILL)
    return ranks


@pytest.mark.parametrize("victim", [0, 1])
def test_all_ranks_go_back_in_place(lab, victim):
    """Launcher and agent are the same, the ranks are other processes. A job can recover again and
    again, from new checkpoints and from one that it has gone back to."""
    program = programs.traffic(0, 2, lab.work / "stop")
    job = start(lab, program)
    job.wait_for(program.progress)
    for number in (1, 1, 2):
        if non_mpi.newest(lab.store) < number:
            non_mpi.save(lab)
            recoveries.await_copies(lab, job)
        before = non_mpi.wait_until(job, lambda: non_mpi.status(lab))
        ranks = kill_one(lab, job, victim)
        assert int(job.wait_for(recoveries.RECOVERED)[1]) == number
        after = non_mpi.wait_until(job, lambda: non_mpi.status(lab))
        assert not {rank["pid"] for rank in after["ranks"]} & set(ranks)
        assert after["agent_pid"] == before["agent_pid"]
        assert after["in_place"]["number"] == number
        assert after["failures"] == before["failures"] + 1
        job.wait_for(program.progress)
    recoveries.is_right(lab, job)


def test_mpi_files_are_written_back(lab):
    """Shared pointers, pending accesses and a split collective go back with the files."""
    program = programs.files(0, stop_file=lab.work / "stop")
    job = start(lab, program)
    job.wait_for(program.progress)
    non_mpi.save(lab)
    recoveries.await_copies(lab, job)
    for victim in (1, 0):
        kill_one(lab, job, victim)
        job.wait_for(recoveries.RECOVERED)
        job.wait_for(program.progress)
    recoveries.is_right(lab, job)


@pytest.mark.parametrize("kind, mpirun", PROGRAMS)
def test_programs_recover(tmp_path, kind, mpirun):
    """Real programs have their right answer after kills at random moments."""
    program = realprograms.KINDS[kind]()
    for part in ("native", "killed"):
        (tmp_path / part).mkdir()
    native = Lab(tmp_path / "native").run_native(program)
    lab = recoveries.make_lab(tmp_path / "killed", OPENMPI4)
    try:
        found = recoveries.run(lab, program, native, kind, most=4, mpirun=mpirun)
    finally:
        lab.close()
    # The last kill may have met a process that was ending.
    assert found["kills"] <= 1 or found["in place"] + len(found["restarts"]) > 0, found


@pytest.mark.parametrize("fault", ["agent-at-recovery", "agent-at-thaw"])
def test_job_is_restarted_if_the_agent_dies(lab, fault):
    program = programs.traffic(0, 2, lab.work / "stop")
    job = start(lab, program, CKPT_FAULT=fault)
    job.wait_for(program.progress)
    non_mpi.save(lab)
    recoveries.await_copies(lab, job)
    kill_one(lab, job, 1)
    job.wait_for("does not recover in place: the agent has died")
    job.wait_for("restart 1 of at most .*/1$")
    job.wait_for(program.progress)
    (lab.work / "stop").touch()
    assert any(line.startswith("OK ") for line in job.succeed())
    assert recoveries.nobody_is_left(lab, job)


@pytest.mark.parametrize("how", ["signal", "checkpoint"])
def test_job_that_is_to_end_does_not_come_back(lab, how):
    """Its ranks end because somebody has asked for that."""
    program = programs.traffic(0, 2, lab.work / "stop")
    job = start(lab, program)
    job.wait_for(program.progress)
    non_mpi.save(lab)
    recoveries.await_copies(lab, job)
    if how == "signal":
        job.process.send_signal(signal.SIGTERM)
    else:
        assert lab.ckpt("checkpoint", "--kill", non_mpi.name(lab)).returncode == 0
    code = job.finish()
    if how == "signal" and lab.has_mpirun:
        assert code != 0, job.lines  # which one is up to mpirun
    else:
        assert code == (128 + signal.SIGTERM if how == "signal" else 75), job.lines
    assert not [line for line in job.lines if recoveries.RECOVERED.search(line)], job.lines
    assert recoveries.nobody_is_left(lab, job)


def test_what_ranks_share_is_restarted(lab):
    """Windows of shared memory have changed since the checkpoint."""
    program = programs.lookout(0, 4, lab.work / "stop")
    job = start(lab, program)
    job.wait_for(program.progress)
    non_mpi.save(lab)
    kill_one(lab, job, 1)
    job.wait_for(r"does not recover in place: rank \d: memory .* is not as it was")
    job.wait_for(program.progress)
    (lab.work / "stop").touch()
    assert any(line.startswith("OK ") for line in job.succeed())


def test_copies_need_room(lab):
    """A checkpoint for which memory is short has no copies, and `ckpt status` says why. The next
    one has copies."""
    program = programs.traffic(0, 2, lab.work / "stop")
    # With cll a checkpoint may be taken twice, because the program gives memory back.
    job = start(lab, program, CKPT_FAULT="memory-for-copies", CKPT_SNAPSHOT="cow")
    job.wait_for(program.progress)
    non_mpi.save(lab)
    found = non_mpi.status(lab)["in_place"]
    assert found["kept"] == 0 and re.match("they may take .* are available", found["why_none"])
    non_mpi.save(lab)
    recoveries.await_copies(lab, job)
    kill_one(lab, job, 0)
    assert int(job.wait_for(recoveries.RECOVERED)[1]) == 2
    recoveries.is_right(lab, job)


@pytest.mark.parametrize(
    "options", [["--snapshot", "stop"], ["--files", "ignore"], ["--keep-copies", "no"]]
)
def test_copies_are_kept_only_where_they_can_be_of_use(tmp_path, options):
    lab = recoveries.make_lab(tmp_path, OPENMPI4)
    program = programs.traffic(0, 2, lab.work / "stop")
    try:
        job = recoveries.start(lab, program, options=options, mpirun=True)
        job.wait_for(program.progress)
        non_mpi.save(lab)
        found = non_mpi.status(lab)["in_place"]
        assert found["kept"] == 0 and not found["why_none"], found
        kill_one(lab, job, 1)
        job.wait_for("restart 1 of at most .*/1$")
        assert not [line for line in job.lines if recoveries.NOT_RECOVERED.search(line)]
        (lab.work / "stop").touch()
        assert any(line.startswith("OK ") for line in job.succeed())
    finally:
        lab.close()


def saved_job(lab):
    """Starts a job of two ranks, whose copies are kept."""
    job = start(lab, programs.traffic(0, 2, lab.work / "stop"))
    job.wait_for("^step")
    non_mpi.save(lab)
    recoveries.await_copies(lab, job)
    return job


def recovered_job(lab):
    """Starts a job of two ranks that has gone back in place."""
    if not lab.has_mpirun:
        pytest.skip("without mpirun no process stays for its sake")
    job = saved_job(lab)
    kill_one(lab, job, 1)
    job.wait_for(recoveries.RECOVERED)
    return job


def test_mpirun_ends_the_job(lab):
    """It ends its processes, which are not the ranks any more: the ranks end, too."""
    job = recovered_job(lab)
    before = non_mpi.wait_until(job, lambda: non_mpi.status(lab))
    os.kill(before["launcher_pid"], signal.SIGTERM)
    job.wait_for("restart 1 of at most .*/1$")
    assert not any(processes.is_alive(rank["pid"]) for rank in before["ranks"])
    job.wait_for("^step")
    (lab.work / "stop").touch()
    assert any(line.startswith("OK ") for line in job.succeed())
    assert recoveries.nobody_is_left(lab, job)


def test_another_agent_ends_the_shells(lab):
    """The agent dies after a recovery. The ranks start another one, which the shells find."""
    job = recovered_job(lab)
    os.kill(non_mpi.wait_until(job, lambda: non_mpi.status(lab))["agent_pid"], signal.SIGKILL)
    job.wait_for("^step", count=20)
    recoveries.is_right(lab, job)


def test_all_ranks_die_at_once(lab):
    """mpirun ends with its last process. The ranks go on without it."""
    job = saved_job(lab)
    for pid in non_mpi.wait_until(job, lambda: recoveries.ranks_of(lab)):
        os.kill(pid, signal.SIGKILL)
    said = job.wait_for("all ranks have gone back to checkpoint 1 in place.*")[0]
    if lab.has_mpirun and "without it" not in said:  # it has ended after the recovery
        job.wait_for("mpirun has ended; the ranks go on without it")
    job.wait_for("^step")
    recoveries.is_right(lab, job)


def test_a_copy_dies_on_the_way(lab):
    """All try again in another world, with the copies that are left."""
    job = saved_job(lab)
    kill_one(lab, job, 1)
    recoveries.kill_a_copy(lab)
    job.wait_for(recoveries.RECOVERED)
    job.wait_for("^step")
    recoveries.is_right(lab, job)


def kill_launcher(lab, job):
    """Kills the launcher; returns when the ranks go on without it."""
    os.kill(non_mpi.wait_until(job, lambda: non_mpi.status(lab))["launcher_pid"], signal.SIGKILL)
    job.wait_for(r"has ended; (all ranks have|the ranks go on without it)")
    job.wait_for("^step")


def test_launcher_is_killed(lab):
    """`ckpt run` waits for the ranks, which can recover again, and be saved. Their output goes
    where the launcher's did."""
    job = saved_job(lab)
    kill_launcher(lab, job)
    kill_one(lab, job, 1)
    job.wait_for(recoveries.RECOVERED)
    job.wait_for("^step")
    non_mpi.save(lab)
    recoveries.await_copies(lab, job)
    kill_one(lab, job, 0)
    assert int(job.wait_for(recoveries.RECOVERED)[1]) == 2
    recoveries.is_right(lab, job)


def test_launcher_is_killed_after_a_recovery(lab):
    """Shells end with it."""
    job = saved_job(lab)
    kill_one(lab, job, 0)
    job.wait_for(recoveries.RECOVERED)
    kill_launcher(lab, job)
    recoveries.is_right(lab, job)


def test_ranks_end_if_nobody_answers(lab):
    """`ckpt run` has gone, and the launcher goes on when a rank dies."""
    job = saved_job(lab)
    ranks = non_mpi.wait_until(job, lambda: recoveries.ranks_of(lab))
    job.process.kill()
    job.process.wait()
    os.kill(ranks[0], signal.SIGKILL)
    assert recoveries.nobody_is_left(lab, job)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_reach_ranks_without_a_launcher(lab, number):
    job = saved_job(lab)
    kill_launcher(lab, job)
    job.process.send_signal(number)
    assert job.finish() == 128 + number, job.lines
    assert recoveries.nobody_is_left(lab, job)


def test_option_is_refused_where_it_cannot_work(lab):
    for command, why in (
        (["--", "srun", "-n", 2, APPS / "idle"], "only ckpt run --ranks and Open MPI's mpirun can"),
        (["-n", 2, "--files", "ignore", "--", APPS / "idle"], "it needs --files rollback"),
    ):
        done = lab.ckpt("run", "--name", non_mpi.name(lab), "--keep-copies", "yes", *command)
        assert done.returncode == 2 and f"--keep-copies: {why}" in done.stderr, done
