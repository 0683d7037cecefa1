# SPDX-License-Identifier: BSD-3-Clause
"""`ckpt run` on several nodes: ranks, agents and nodes are lost, links are cut, jobs are swapped
out and migrated. No user intervenes, and the answer is right."""

import signal
from pathlib import Path

import pytest

from ckpttest import cluster, non_mpi, processes, programs

NAME = "job"
MAJORITY = 4.5  # seconds after which members without a majority give up

pytestmark = pytest.mark.skipif(
    not cluster.is_possible(), reason="nodes need root and network namespaces"
)


@pytest.fixture(name="lab")
def lab_on_head(box, tmp_path):
    """A lab of a job with a rank on n1 and one on n2. n3 is spare, and commands run on the head."""
    place = box.lab(tmp_path / "lab", head=True)
    yield place
    place.close()


def start(lab, program, *options):
    """Starts the program under ckpt run; n3 is a spare node."""
    program.prepare(lab.work)
    run = [lab.ckpt_program, "run", "--name", NAME, "--spares", "1", *options, "--"]
    # pylint: disable-next=protected-access
    return lab._start([*run, *lab.mpirun_command(program)], {})


def saved(lab, job, program):
    """Waits for progress and takes a checkpoint, by the agent on rank 0's node."""
    job.wait_for(program.progress)
    lab.on("n1").ckpt_json("checkpoint", NAME)


def ranks_of(box, node, program):
    """Returns the process ids of the program's ranks on a node."""
    name = Path(program.argv[0]).name
    return [pid for pid in box.processes(node) if processes.name_of(pid) == name]


def wait_until_watched(lab, job, *nodes):
    """Until silence of another node means something to the agents of these."""
    for node in nodes:
        log = lab.store / NAME / f"ckptd-{node}.log"
        non_mpi.wait_until(job, lambda log=log: "a node that falls silent" in log.read_text())


def finish(lab, job, program, native):
    """Waits for the end, with the right answer."""
    job.succeed()
    assert lab.answer(program, job) == native(program).answer


@pytest.mark.parametrize("node", ["n1", "n2"])
def test_a_node_dies(box, lab, native, node):
    """Also the node of the coordinating agent dies. The spare node replaces the lost one."""
    program = programs.churn(200)
    job = start(lab, program)
    saved(lab, job, program)
    box.kill(node)
    job.wait_for(f"^ckpt: node {node} was lost; restart 1 of at most 10, from {NAME}/1")
    finish(lab, job, program, native)


def test_a_link_is_cut(box, lab, native):
    """The node's ranks live, and their own agent, which has no majority, ends them."""
    program = programs.churn(200)
    job = start(lab, program)
    saved(lab, job, program)
    cut_off = ranks_of(box, "n2", program)
    assert cut_off
    wait_until_watched(lab, job, "n1", "n2")
    box.cut("n2")
    job.wait_for("^ckpt: node n2 was lost; the rest of the job is ended")
    job.wait_for("^ckpt: node n2 was lost; restart 1")
    job.wait_for(program.progress)
    assert processes.wait_until_gone(cut_off, 10)
    box.mend()
    finish(lab, job, program, native)


def test_before_the_first_checkpoint(box, lab, native):
    """A job that has lost a node starts from the beginning."""
    program = programs.churn(150)
    job = start(lab, program)
    job.wait_for(program.progress, count=10)
    box.kill("n2")
    job.wait_for("^ckpt: node n2 was lost; restart 1 of at most 10, from the beginning")
    finish(lab, job, program, native)


def test_no_node_too_few(box, lab):
    """The job has lost the spare node and one of two: one is left."""
    program = programs.churn(3000)
    job = start(lab, program, "--min-nodes", "3")
    saved(lab, job, program)
    box.kill("n2")
    assert job.finish() != 0
    job.wait_for("^ckpt: .*; 2 of 3 nodes are left")


def test_a_rank_is_killed(box, lab, native):
    """`ckpt run` reports how the rank ended, as the launcher does not know."""
    program = programs.churn(200)
    job = start(lab, program)
    saved(lab, job, program)
    processes.kill(ranks_of(box, "n2", program)[0])
    job.wait_for("^ckpt: rank 1 on n2 was killed by signal 9 .*; restart 1")
    finish(lab, job, program, native)


def test_no_independent_checkpoints(box, lab, native):
    """Ranks on several nodes take no independent checkpoints. `ckpt run` says so, and all ranks
    roll back."""
    program = programs.churn(200)
    job = start(lab, program, "--protocol", "independent")
    job.wait_for("^ckpt: no independent checkpoints, as the ranks are on several nodes")
    saved(lab, job, program)
    processes.kill(ranks_of(box, "n2", program)[0])
    job.wait_for(f"^ckpt: rank 1 on n2 was killed by signal 9 .*; restart 1 .*, from {NAME}/1")
    finish(lab, job, program, native)


def test_a_rank_is_stopped(box, lab, native):
    """Open MPI would wait for ever."""
    program = programs.churn(200)
    job = start(lab, program)
    saved(lab, job, program)
    processes.send(ranks_of(box, "n2", program)[0], signal.SIGSTOP)
    job.wait_for("^ckpt: rank 1 on n2 was stopped by a signal.*; restart 1")
    finish(lab, job, program, native)


@pytest.mark.parametrize("hosts", ["n1:1,n2:1,n3:1", "n2:2,n3:2", "head:2,n3:2"])
def test_a_rank_is_stopped_and_its_agent_dies(box, lab, hosts):
    """The agent dies before it has noticed. The node has no other rank, or another rank, which
    finds another agent there or on the node of `ckpt run`."""
    lab.options[1] = hosts
    node = "head" if "head" in hosts else "n2"
    stop = lab.directory / "stop"
    program = programs.traffic(0, 2, stop)
    job = start(lab, program)
    job.wait_for(program.progress)
    lab.ckpt_json("checkpoint", NAME)
    ranks = ranks_of(box, node, program)
    for rank in ranks:
        processes.send(rank, signal.SIGSTOP)
    box.kill(node, only="ckptd")
    for rank in ranks[1:]:
        processes.send(rank, signal.SIGCONT)
    why = f"rank . on {node} was stopped by a signal" if ranks[1:] else "node n2 was lost"
    job.wait_for(f"^ckpt: {why}.*; restart 1")
    job.wait_for(program.progress)
    stop.touch()
    job.succeed()
    assert lab.answer(program, job)


@pytest.mark.parametrize("node, hosts", [("n1", None), ("n2", None), ("n1", "n1:2,n3:2")])
def test_an_agent_dies(box, lab, node, hosts):
    """This is not a failure of the job. The ranks find another agent, and the node stays a member,
    also if it is the only one. The program checks every message itself, and ends on command."""
    if hosts:
        lab.options[1] = hosts
    stop = lab.directory / "stop"
    program = programs.traffic(0, 2, stop)
    job = start(lab, program)
    saved(lab, job, program)
    box.kill(node, only="ckptd")
    job.wait_for(program.progress)
    lab.on("n1").wait_for_agent(job, NAME)
    saved(lab, job, program)
    job.run_on(MAJORITY)
    stop.touch()
    job.succeed()
    assert lab.answer(program, job)
    assert not [line for line in job.lines if "restart" in line]


def test_swap(box, lab, native):
    """Nothing runs on the nodes while the job is swapped out."""
    program = programs.churn(200)
    job = start(lab, program)
    job.wait_for(program.progress)
    assert lab.ckpt("resume", NAME).returncode == 4
    done = lab.ckpt("swap", NAME)
    assert done.returncode == 0 and done.stdout == f"{NAME}/1\n", done
    job.wait_for("^ckpt: the job is swapped out")
    assert not ranks_of(box, "n1", program) and not ranks_of(box, "n2", program)
    assert lab.ckpt("swap", NAME).returncode == 4
    status = lab.ckpt("status", NAME).stdout
    assert status.startswith(f"{NAME}: swapped out since "), status
    assert f"newest checkpoint {NAME}/1 " in status, status
    assert f"ckpt resume {NAME} brings it back" in status, status
    assert lab.ckpt("resume", NAME).returncode == 0
    job.wait_for(f"^ckpt: the job goes on from {NAME}/1")
    finish(lab, job, program, native)
    assert lab.ckpt("swap", NAME).returncode == 3


def test_ckpt_run_is_stopped_and_continued(box, lab):
    """`ckpt run` and its launcher stop, as by ctrl-Z, for longer than the time after which a member
    counts as lost. Afterwards the nodes watch each other again."""
    program = programs.traffic(0, 2, lab.directory / "stop")
    job = start(lab, program)
    saved(lab, job, program)
    found = {processes.name_of(pid): pid for pid in box.processes("head")}
    supervisor, launcher = found["ckpt"], found["mpirun.openmpi"]
    processes.send(supervisor, signal.SIGTSTP)
    job.wait_for("Forwarding signal 20")
    processes.send(launcher, signal.SIGSTOP)
    non_mpi.wait_until(job, lambda: processes.is_stopped(supervisor))
    job.run_on(MAJORITY)
    processes.send(launcher, signal.SIGCONT)
    processes.send(supervisor, signal.SIGCONT)
    job.wait_for(program.progress, count=3)
    job.run_on(MAJORITY)
    assert not [line for line in job.lines if "restart" in line or "lost" in line]
    box.kill("n2")
    job.wait_for(f"^ckpt: node n2 was lost; restart 1 of at most 10, from {NAME}/1")


def test_an_agent_dies_in_a_swap(box, lab):
    """The ranks start another agent, which gets the request again."""
    stop = lab.directory / "stop"
    program = programs.traffic(0, 2, stop)
    job = start(lab, program)
    saved(lab, job, program)
    (rank,) = ranks_of(box, "n2", program)
    processes.send(rank, signal.SIGSTOP)  # this rank cannot be saved
    swap = lab.ckpt_in_background("swap", NAME)
    non_mpi.wait_until(job, lambda: lab.ckpt_json("status", NAME)[0]["phase"] != "running")
    box.kill("n1", only="ckptd")
    processes.send(rank, signal.SIGCONT)
    said, errors = swap.communicate(timeout=60)
    assert swap.returncode == 0, errors
    job.wait_for("^ckpt: the job is swapped out")
    assert lab.ckpt("resume", NAME).returncode == 0
    job.wait_for(f"^ckpt: the job goes on from {said.strip()}")
    job.wait_for(program.progress)
    stop.touch()
    job.succeed()
    assert lab.answer(program, job)


def test_migrate(box, lab, native):
    """n2 is free afterwards; its rank is on the spare node."""
    program = programs.churn(200)
    job = start(lab, program)
    job.wait_for(program.progress)
    assert lab.ckpt("migrate", NAME, "--from", "n3").returncode == 4
    done = lab.ckpt("migrate", NAME, "--from", "n2", "--to", "n3")
    assert done.returncode == 0, done
    job.wait_for(f"^ckpt: the job goes on from {NAME}/1")
    job.wait_for(program.progress)
    assert ranks_of(box, "n3", program) and not ranks_of(box, "n2", program)
    finish(lab, job, program, native)


def test_migrate_by_signal(box, lab, native):
    """The job moves to the nodes in a file. If the file is wrong, `ckpt run` says so and changes
    nothing."""
    program = programs.churn(200)
    nodes = lab.work / "nodes"
    options = ["--migrate-signal", "USR2", "--nodes-file", str(nodes)]
    job = start(lab, program, *options)
    job.wait_for(program.progress)
    lab.on("n1").wait_for_agent(job, NAME)
    (run,) = [pid for pid in box.processes(lab.node) if processes.name_of(pid) == "ckpt"]
    for content, reason in [
        (None, "No such file"),
        ("n1\n", "no free node is listed for the ranks on n2$"),
        ("n1\nn9\n", "node n9 is unknown"),
    ]:
        if content:
            nodes.write_text(content, encoding="ascii")
        processes.send(run, signal.SIGUSR2)
        job.wait_for(f"^ckpt: SIGUSR2: the job stays where it is: .*{reason}")
    assert ranks_of(box, "n2", program)
    nodes.write_text("n3\nn1\n", encoding="ascii")
    processes.send(run, signal.SIGUSR2)
    job.wait_for("^ckpt: SIGUSR2: the job moves to nodes of ")
    job.wait_for(f"^ckpt: the job goes on from {NAME}/1")
    job.wait_for(program.progress)
    assert ranks_of(box, "n3", program) and not ranks_of(box, "n2", program)
    finish(lab, job, program, native)
