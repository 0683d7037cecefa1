# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on several nodes: one agent and one image file for each."""

import json
import random
import shutil
import time
from pathlib import Path

import pytest

from ckpttest import cluster, consistency, cuts, events, probes, programs

SEED = random.randrange(1000000)  # a failing test shows it

pytestmark = pytest.mark.skipif(
    not cluster.is_possible(), reason="no network namespaces for this user"
)


@pytest.fixture
def lab(nodes, tmp_path):
    """A lab on the first of the nodes."""
    place = nodes.lab(tmp_path / "lab")
    yield place
    place.close()


@pytest.mark.parametrize(
    "program",
    [programs.churn(400), programs.traffic(1000), programs.files(300)],
    ids=["churn", "traffic", "files"],
)
def test_three_restarts(nodes, lab, native, program):
    """Both nodes lose everything, agents included, three times."""
    jobs = [lab.start(program)]
    for _ in range(3):
        jobs[-1].wait_for(program.progress)
        saved = lab.checkpoint(jobs[-1])
        manifest = Path(saved["path"], "manifest.json")
        hosts = json.loads(manifest.read_text(encoding="utf-8"))["hosts"]
        assert sorted(hosts) == ["n1", "n2"]
        for name in nodes.names:
            nodes.kill(name)
        jobs.append(lab.restart())
    jobs[-1].succeed()
    assert lab.answer(program, *jobs) == native(program).answer


def test_windows(nodes, lab):
    """Windows on memory of another node, before and after they are rebuilt. The components that
    Open MPI 4.1 chooses by itself cannot make windows over TCP."""
    stop = lab.directory / "stop"
    program = programs.remote(0, 3, stop)
    # Nodes share the processors, and mpirun does not know that. A rank that waits without yielding
    # keeps its processor for a whole time slice, for each message.
    components = {"OMPI_MCA_osc": "pt2pt,sm", "OMPI_MCA_mpi_yield_when_idle": 1}
    first = lab.start(program, **components)
    first.wait_for(program.progress)
    lab.checkpoint(first)
    for name in nodes.names:
        nodes.kill(name)
    second = lab.restart(**components)
    second.wait_for(program.progress, count=7)  # more than the windows' 96 steps
    stop.touch()
    programs.ok_line(second.succeed(), lab.work)


def test_lost_node(nodes, lab, native):
    """A node is lost while the first one, with its agent, stays."""
    program = programs.churn(400)
    job = lab.start(program)
    job.wait_for(program.progress)
    lab.checkpoint(job)
    nodes.kill("n2")
    assert job.finish() != 0
    again = lab.restart()
    again.succeed()
    assert lab.answer(program, job, again) == native(program).answer


def test_lost_agent(nodes, lab, native):
    """The agent of another node dies. The program goes on, and its ranks find a new agent, which
    takes part in the next checkpoint."""
    program = programs.churn(500)
    job = lab.start(program)
    job.wait_for(program.progress)
    lab.checkpoint(job)
    nodes.kill("n2", only="ckptd")
    job.wait_for(program.progress)
    lab.checkpoint(job)
    logs = sorted(path.name for path in lab.store.glob("*/ckptd-*.log"))
    assert logs == ["ckptd-n1.log", "ckptd-n2.log"]
    job.succeed()
    assert lab.answer(program, job) == native(program).answer


def test_shared_memory_needs_one_node(lab, tmp_path):
    """Ranks that share memory cannot be restarted on different nodes."""
    lab.options[1] = "n1:2"
    job = lab.start(probes.probe("shared_with_rank", tmp_path / "gate"))
    job.wait_for("^waiting")
    lab.checkpoint(job)
    job.kill()
    job = lab.restart(options=["--host", "n1:1,n2:1", *lab.options[2:]])
    assert job.finish() != 0
    assert any("must be on one node" in line for line in job.lines), job.lines


@pytest.mark.parametrize("protocol", cuts.PROTOCOLS)
def test_cuts(tmp_path, protocol):
    totals = cuts.run_cuts(
        tmp_path, 4, SEED, ranks=(3, 3), nodes=2, protocol=protocol
    )
    assert totals["cuts"] == 4


@pytest.mark.parametrize("protocol", ["cl", "ns"])
def test_trace_of_two_clocks(nodes, tmp_path, protocol):
    """Events of ranks on both nodes are put on one clock. These nodes really have the same clock,
    and the measured difference must show that."""
    lab = nodes.lab(tmp_path / "lab", CKPT_PROTOCOL=protocol)
    try:
        program = programs.pattern("ring", 10**6, 2)
        job = lab.start(program)
        job.wait_for("^begun")
        saved = lab.checkpoint(job)
        trace = lab.ckpt_json("trace", saved["path"])
    finally:
        lab.close()
    own, other = trace["nodes"]
    assert own["clock_offset"] == own["clock_error"] == 0
    assert abs(other["clock_offset"]) <= other["clock_error"]
    assert 0 < other["clock_error"] < 1e9
    events = trace["events"]
    assert sorted(e["from"] for e in events if e["kind"] == "cut") == [0, 1]
    kind, count = {"cl": ("marker", "markers"), "ns": ("sweep", "sweep")}[protocol]
    messages = [event for event in events if event["kind"] == kind]
    assert saved["cost"][count] == 2, "n (n - 1), or N log2 N"
    assert saved["protocol"] == protocol
    for message in messages:
        if "arrived" in message and "at" in message:
            assert message["at"] < message["arrived"] + 2 * other["clock_error"]
    pairs = {(message["from"], message["to"]) for message in messages}
    assert pairs == {(0, 1), (1, 0)}


def mix(older, newer, rank):
    """Replaces a rank, alone on its node, by its state at another checkpoint."""
    path = newer / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    old = json.loads((older / "manifest.json").read_text("utf-8"))["pieces"]
    for piece in manifest["pieces"]:
        if piece["ranks"] == [rank]:
            piece.update(next(p for p in old if p["host"] == piece["host"]))
            shutil.copy(older / piece["file"], newer / piece["file"])
    path.write_text(json.dumps(manifest), "utf-8")


def test_inconsistent_checkpoint(lab):
    """The check of cuts gets a checkpoint that is mixed from two."""
    stop = lab.directory / "stop"
    program = programs.events(1, stop)
    job = lab.start(program)
    job.wait_for(program.progress)
    older = lab.checkpoint(job)
    job.wait_for(program.progress, count=10)
    newer = lab.checkpoint(job)
    stop.touch()
    job.succeed()
    mix(Path(older["path"]), Path(newer["path"]), 0)
    logs = before = events.read_logs(lab.work, 2)
    began = time.time_ns()
    job = lab.restart(newer["name"], CKPT_FILES="ignore")  # each rank truncates its log
    while any(log == old for log, old in zip(logs, before, strict=True)):
        assert job.run_on(0.05)
        logs = events.read_logs(lab.work, 2)
    history = [events.parse_log(log, 2) for log in logs]
    cut = events.count_until(began, logs)
    errors = consistency.judge(history, cut)
    assert any("at its cut rank 1 knows" in error for error in errors), errors
