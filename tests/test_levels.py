# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints in the memory of nodes that protect each other's pieces. The other nodes rebuild the
pieces of a lost node; pieces that they cannot rebuild come from the disk."""

import pytest

from ckpttest import cluster, non_mpi, processes, programs
from ckpttest.cluster import Cluster

NAME = "job"

pytestmark = pytest.mark.skipif(
    not cluster.is_possible(), reason="nodes need root and network namespaces"
)


@pytest.fixture(name="five")
def five_nodes(tmp_path):
    """Five nodes, and a sixth without ranks for commands."""
    made = Cluster(tmp_path / "cluster", 5)
    yield made
    made.close()


def run(lab, program, *options, levels="partner", disk="1h"):
    """Starts the program under ckpt run, with checkpoints in the memory of nodes."""
    program.prepare(lab.work)
    command = [lab.ckpt_program, "run", "--name", NAME, *options]
    command += ["--levels", f"memory,{levels},disk:{disk}", "--"]
    # pylint: disable-next=protected-access
    return lab._start([*command, *lab.mpirun_command(program)], {})


def save(lab, job, program, survives=True):
    """Takes a checkpoint, and waits until the nodes have protected it."""
    job.wait_for(program.progress)
    number = lab.ckpt_json("checkpoint", NAME)["number"]

    def is_settled():
        status = status_of(lab)
        assert not survives or not status["redundancy_error"], status
        return not survives or status["redundant"] == number

    non_mpi.wait_until(job, is_settled)
    return number


def status_of(lab):
    """Returns the status by way of ckpt run."""
    (status,) = lab.ckpt_json("status", NAME)
    return status


def where(lab, number):
    """Returns the levels at which a checkpoint is complete."""
    for entry in lab.ckpt_json("list", NAME):
        if entry["number"] == number:
            return entry
    return None


def agent_of(box, node):
    """Returns the process id of the agent on a node."""
    (agent,) = [p for p in box.processes(node) if processes.name_of(p) == "ckptd"]
    return agent


def pieces(box, node):
    """Returns the names of checkpoint files in the memory of a node."""
    return sorted(path.name for path in (box.shm / node).rglob("*.h5"))


def endless(lab, ranks=2):
    """Returns a program that checks itself until finish()."""
    return programs.churn(0, ranks, stop_file=lab.directory / "stop")


def finish(lab, job):
    """Ends the program, which must succeed."""
    (lab.directory / "stop").touch()
    programs.ok_line(job.succeed(), lab.work)


def test_a_partner_makes_the_piece_again(box, tmp_path):
    """The first checkpoint goes to the disk, too; the second one loses n2's piece."""
    lab = box.lab(tmp_path / "lab", head=True)
    program = endless(lab)
    job = run(lab, program, "--spares", "1")
    save(lab, job, program)
    number = save(lab, job, program)
    assert where(lab, number)["on_nodes"] and not where(lab, number)["on_disk"]
    seen = lab.ckpt("verify", f"{NAME}/{number}")
    assert seen.returncode == 3 and "lies on the nodes" in seen.stderr
    box.kill("n2")
    job.wait_for(f"^ckpt: node n2 was lost; restart 1 of at most 10, from {NAME}/{number}")
    job.wait_for(program.progress)
    assert "node-n2.h5" in pieces(box, "n3")
    save(lab, job, program)
    agents = [agent_of(box, node) for node in ("n1", "n3")]
    finish(lab, job)
    assert processes.wait_until_gone(agents, 30)
    assert not pieces(box, "n1") and not pieces(box, "n3")
    lab.close()


def test_in_place(box, tmp_path):
    """Only a rank is lost: each node has the pieces that it needs, and the disk is not used."""
    lab = box.lab(tmp_path / "lab", head=True)
    program = endless(lab)
    job = run(lab, program, "--spares", "1")
    save(lab, job, program)
    number = save(lab, job, program)
    rank = next(
        pid
        for pid in box.processes("n2")
        if processes.name_of(pid) == program.argv[0].name
    )
    processes.kill(rank)
    job.wait_for(f"^ckpt: rank 1 on n2 .*; restart 1 of at most 10, from {NAME}/{number}")
    finish(lab, job)
    lab.close()


def test_two_of_four_nodes(five, tmp_path):
    """Reed-Solomon with two losses: two nodes die at once, one of them the node of rank 0. Three
    nodes are left for four ranks."""
    lab = five.lab(tmp_path / "lab", slots=2, head=True)
    program = endless(lab, ranks=4)
    lab.options += ["--map-by", "node"]
    job = run(lab, program, "--spares", "1", levels="rs2")
    save(lab, job, program)
    number = save(lab, job, program)
    for node in ("n1", "n3"):
        five.kill(node)
    job.wait_for(f"^ckpt: .*; restart 1 of at most 10, from {NAME}/{number}")
    finish(lab, job)
    lab.close()


def test_too_much_is_lost(five, tmp_path):
    """Both partners are lost: the job restarts from the checkpoint on the disk, with a message.
    ckpt run may have heard of only one loss; then the nodes find the other."""
    lab = five.lab(tmp_path / "lab", head=True, names=["n1", "n2", "n3", "n4"])
    program = endless(lab)
    job = run(lab, program, "--spares", "2")
    first = save(lab, job, program)
    non_mpi.wait_until(job, lambda: where(lab, first)["on_disk"])
    second = save(lab, job, program)
    for node in ("n1", "n2"):
        five.kill(node)
    job.wait_for(f"^ckpt: {NAME}/{second} cannot be (used: it was on nodes|gathered)")
    job.wait_for(f"^ckpt: .*(; restart 1 of at most 10,|goes on) from {NAME}/{first}")
    finish(lab, job)
    lab.close()


def test_all_is_lost(five, tmp_path):
    """Both partners are lost before the only checkpoint is on the disk: the job starts from the
    beginning, as without a checkpoint."""
    lab = five.lab(
        tmp_path / "lab", head=True, names=["n1", "n2", "n3", "n4"], CKPT_FAULT="flush-enospc"
    )
    program = endless(lab)
    job = run(lab, program, "--spares", "2")
    only = save(lab, job, program)
    assert where(lab, only)["on_nodes"] and not where(lab, only)["on_disk"]
    for node in ("n1", "n2"):
        five.kill(node)
    job.wait_for(f"^ckpt: {NAME}/{only} cannot be (used: it was on nodes|gathered)")
    job.wait_for("^ckpt: .*(; restart 1 of at most 10,|; the job starts) from the beginning")
    finish(lab, job)
    lab.close()


def test_the_only_one_is_gone(box, tmp_path):
    """No message reports that a node's memory is lost. The nodes find out, and the job starts from
    the beginning, unless an option forbids that."""
    anew, not_anew = "(; the job starts|,) from the beginning$", "; there is no checkpoint"
    for options, word in ([], anew), (["--no-fresh-start"], not_anew):
        place = tmp_path / str(len(options))
        lab = box.lab(place, head=True, CKPT_FAULT="flush-enospc")
        program = endless(lab)
        job = run(lab, program, "--spares", "1", *options, levels="none")
        only = save(lab, job, program, survives=False)
        assert not where(lab, only)["on_disk"]
        box.lose("n2")
        job.wait_for(f"^ckpt: {NAME}/{only} cannot be (used: it was on nodes|gathered)")
        job.wait_for(f"^ckpt: .*{word}")
        if not options:
            finish(lab, job)
        lab.close()


def test_memory_of_a_node_is_gone(box, tmp_path):
    """No message reports that. The nodes find out, and the job restarts from an older
    checkpoint."""
    lab = box.lab(tmp_path / "lab", head=True)
    program = endless(lab)
    job = run(lab, program, "--spares", "1", levels="none")
    first = save(lab, job, program, survives=False)
    non_mpi.wait_until(job, lambda: where(lab, first)["on_disk"])
    second = save(lab, job, program, survives=False)
    box.lose("n2")
    job.wait_for(f"^ckpt: {NAME}/{second} cannot be (used: it was on nodes|gathered)")
    finish(lab, job)
    lab.close()


@pytest.mark.parametrize("node", ["n1", "n2"])
def test_an_agent_dies(box, tmp_path, node):
    """The coordinating agent or the other one dies before it has written its parity for a second
    time. The next agent has the checkpoint protected; until then the previous one is kept."""
    fault = f"agent-during-redundancy:2@{node}"
    lab = box.lab(tmp_path / "lab", head=True, CKPT_FAULT=fault)
    program = endless(lab)
    job = run(lab, program, "--spares", "1")
    first = save(lab, job, program)
    agent = agent_of(box, node)
    second = save(lab, job, program, survives=False)
    assert processes.wait_until_gone([agent], 30)
    there = [entry["number"] for entry in lab.ckpt_json("list", NAME) if entry["on_nodes"]]
    assert there == [first, second] or status_of(lab).get("redundant") == second
    non_mpi.wait_until(job, lambda: status_of(lab).get("redundant") == second)
    finish(lab, job)
    assert not [line for line in job.lines if "restart" in line]
    lab.close()


def log_of(box, node):
    """Returns the log of a coordinating agent."""
    (log,) = (box.shm / node).rglob(f"ckptd-{node}.log")
    return log.read_text()


def test_over_a_fabric(box, tmp_path):
    """Agents use the provider that exists everywhere, to read pieces and to rebuild them after a
    loss."""
    lab = box.lab(tmp_path / "lab", head=True, CKPT_FABRIC="tcp")
    program = endless(lab)
    job = run(lab, program, "--spares", "1")
    save(lab, job, program)
    number = save(lab, job, program)
    log = log_of(box, "n1")
    if "has no libfabric" in log:
        pytest.skip("built without libfabric")
    assert "are read over the fabric (tcp;ofi_rxm)" in log
    assert "are read over TCP" not in log
    box.kill("n2")
    job.wait_for(f"^ckpt: node n2 was lost; restart 1 of at most 10, from {NAME}/{number}")
    job.wait_for(program.progress)
    assert "node-n2.h5" in pieces(box, "n3")
    finish(lab, job)
    lab.close()


def test_a_fabric_fails(box, tmp_path):
    """The fabric fails at the read of the first piece: the checkpoint is protected all the same."""
    lab = box.lab(
        tmp_path / "lab", head=True, CKPT_FABRIC="tcp", CKPT_FAULT="fabric-read"
    )
    program = endless(lab)
    job = run(lab, program, "--spares", "1")
    save(lab, job, program)
    log = log_of(box, "n1")
    if "has no libfabric" in log:
        pytest.skip("built without libfabric")
    assert log.count("read over TCP: memory of another node cannot be read: fault") == 1
    save(lab, job, program)
    assert log_of(box, "n1").count("are read over TCP") == 1
    finish(lab, job)
    lab.close()


def test_migrate(box, tmp_path):
    """The node that stays has its piece; the new node makes its own piece from that. The disk is
    not needed."""
    lab = box.lab(tmp_path / "lab", head=True)
    program = endless(lab)
    job = run(lab, program, "--spares", "1")
    save(lab, job, program)
    done = lab.ckpt("migrate", NAME, "--from", "n2", "--to", "n3")
    assert done.returncode == 0, done
    job.wait_for(f"^ckpt: the job goes on from {NAME}/2")
    job.wait_for("^ckpt: 1 piece was fetched or made again in")
    assert not where(lab, 2)["on_disk"]
    job.wait_for(program.progress)
    assert "node-n2.h5" in pieces(box, "n3")
    finish(lab, job)
    lab.close()


def test_restart_by_hand(box, tmp_path):
    """A restart without ckpt run needs only the directory that all nodes see."""
    lab = box.lab(tmp_path / "lab", head=True, names=["n1", "n2"])
    program = endless(lab)
    job = run(lab, program, "--max-restarts", "0")
    save(lab, job, program)
    number = save(lab, job, program)
    box.kill("n2", only=program.argv[0].name)
    agents = [agent_of(box, "n1")]
    assert job.finish() != 0
    assert processes.wait_until_gone(agents, 30)
    box.lose("n2")
    finish(lab, lab.restart(f"{NAME}/{number}"))
    lab.close()


def test_increments_are_refused(box, tmp_path):
    """All checkpoints of a chain would have to survive."""
    lab = box.lab(tmp_path / "lab", head=True)
    done = lab.ckpt("run", "--levels", "memory,partner,disk", "--incremental=4", "--", "true")
    assert done.returncode == 2 and "--incremental" in done.stderr
    lab.close()
