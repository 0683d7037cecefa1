# SPDX-License-Identifier: BSD-3-Clause
"""The node agent: it may die at any time, it serves requests in turn, it ends by
itself, and only the user can read its files."""

import signal
import stat
import threading
from pathlib import Path

import pytest

from ckpttest import processes, programs

# Faults that end the agent, in the order in which the agent reaches them. Each has the
# count at which it strikes in the second checkpoint of two ranks.
FATAL = [
    "agent-during-capture:3",
    "image-before-rename:2",
    "image-after-rename:2",
    "agent-before-manifest:2",
]


def agent_of(lab, job):
    """Returns the process id of a job's agent."""
    (status,) = lab.ckpt_json("status", job.pid)
    return status["agent_pid"]


def start(lab, program):
    """Starts a job and waits for its progress."""
    job = lab.start(program)
    job.wait_for(program.progress)
    return job


def test_an_agent_crashes(lab):
    """The agent reports the crash in its log; the job goes on."""
    stop = lab.directory / "stop"
    program = programs.traffic(0, 2, stop)
    job = start(lab, program)
    lab.checkpoint(job)
    agent = agent_of(lab, job)
    processes.send(agent, signal.SIGSEGV)
    assert processes.wait_until_gone([agent], 30)
    (log,) = lab.store.glob("*/ckptd-*.log")
    words = log.read_text()[log.read_text().index("ckptd: SIGSEGV, from") :]
    assert "ckptd(" in words, words
    lab.wait_for_agent(job)
    lab.checkpoint(job)
    stop.touch()
    job.succeed()
    assert lab.answer(program, job)


def lose_agent_in_a_checkpoint(lab, program, then=None, **settings):
    """The second checkpoint fails, the program goes on, the next one works. then:
    called after the failure; settings: among them the fault. Returns the running
    job."""
    job = lab.start(program, **{"CKPT_SNAPSHOT": "stop", **settings})
    job.wait_for(program.progress)
    lab.checkpoint(job)
    done = lab.ckpt("checkpoint", job.pid)
    assert done.returncode != 0
    assert "agent" in done.stderr, done.stderr
    assert len(lab.checkpoints()) == 1
    if then:
        then()
    lab.wait_for_agent(job)
    lab.checkpoint(job)
    return job


def survive_agent_in_a_checkpoint(lab, then=None, **settings):
    """Does the same, then kills and restarts the job. The program checks all that it
    receives, and goes on until it may end."""
    stop = lab.directory / "stop"
    program = programs.traffic(0, 2, stop)
    job = lose_agent_in_a_checkpoint(lab, program, then, **settings)
    end_after_restart(lab, job, stop)


# A piece of two ranks is then made in two tasks and four events of the agent.
TWO_TASKS = {"CKPT_PROTOCOL": "sns", "CKPT_SNAPSHOT": "stop"}


@pytest.mark.parametrize("moment", ["reply:6", "task:3"])
def test_an_assertion_fails_in_the_agent(lab, moment):
    """In the second checkpoint. The agent refuses it and all later ones, with the
    assertion; the job goes on, and the first checkpoint is as good as before."""
    stop = lab.directory / "stop"
    program = programs.traffic(0, 2, stop)
    job = lab.start(program, CKPT_FAULT=f"invariant-in-{moment}", **TWO_TASKS)
    job.wait_for(program.progress)
    lab.checkpoint(job)
    agent = agent_of(lab, job)
    for _ in range(2):
        done = lab.ckpt("checkpoint", job.pid)
        assert done.returncode != 0
        assert "internal error: agent/ranks/local_node.cpp:" in done.stderr, done.stderr
    assert agent_of(lab, job) == agent
    assert len(lab.checkpoints()) == 1
    job.kill()
    stop.touch()
    again = lab.restart()
    programs.ok_line(again.succeed(), lab.work)


def test_a_restart_ends_unsoundness(lab):
    """The agent of the restarted job saves again."""
    stop = lab.directory / "stop"
    program = programs.traffic(0, 2, stop)
    job = lab.start(program, CKPT_FAULT="invariant-in-reply:6", **TWO_TASKS)
    job.wait_for(program.progress)
    lab.checkpoint(job)
    assert lab.ckpt("checkpoint", job.pid).returncode != 0
    job.kill()
    again = lab.restart()
    lab.wait_for_agent(again)
    lab.checkpoint(again)
    stop.touch()
    programs.ok_line(again.succeed(), lab.work)


@pytest.mark.waiting
@pytest.mark.parametrize("fault", FATAL)
def test_agent_dies_in_a_checkpoint(lab, fault):
    survive_agent_in_a_checkpoint(lab, CKPT_FAULT=fault)


def start_with_fault(lab, protocol, stagger, phase):
    """Starts a job whose agent dies in this phase of the second checkpoint; returns the
    job and the file that ends it."""
    stop = lab.directory / "stop"
    program = programs.traffic(0, 3, stop)
    job = lab.start(
        program,
        CKPT_PROTOCOL=protocol,
        CKPT_STAGGER=stagger,
        CKPT_SNAPSHOT="stop",  # with cll the first checkpoint may take two attempts
        CKPT_FAULT=f"agent-in-{phase}:2",
    )
    job.wait_for(program.progress)
    return job, stop


def end_after_restart(lab, job, stop):
    """Kills a job, restarts it and waits for its end."""
    job.kill()
    stop.touch()
    programs.ok_line(lab.restart().succeed(), lab.work)


# The protocols and staggers, and the phases in which the agent may die.
PHASES = {
    ("sns", "no"): ["align", "stop", "drain", "save", "write", "commit"],
    ("cl", "no"): ["align", "open", "cut", "log", "write", "commit"],
    ("ns", "no"): ["open", "cut", "log", "commit"],
    ("cl", "job"): ["cut"],
    ("ns", "job"): ["cut"],
}


@pytest.mark.waiting
@pytest.mark.parametrize(
    "protocol, stagger, phase",
    [(*how, phase) for how, phases in PHASES.items() for phase in phases],
)
def test_agent_dies_in_a_phase(lab, protocol, stagger, phase):
    """Some ranks may have been cut before the agent's death, and others not. All ranks
    go on, and the next agent saves them by the same protocol."""
    job, stop = start_with_fault(lab, protocol, stagger, phase)
    assert lab.checkpoint(job)["protocol"] == protocol
    done = lab.ckpt("checkpoint", job.pid)
    assert done.returncode != 0
    assert "agent" in done.stderr, done.stderr
    lab.wait_for_agent(job)
    assert lab.checkpoint(job)["protocol"] == protocol
    end_after_restart(lab, job, stop)


@pytest.mark.waiting
@pytest.mark.parametrize("phase", ["open", "cut", "log", "write", "commit"])
@pytest.mark.parametrize("protocol, stagger", [("cl", "no"), ("ns", "job")])
def test_job_dies_in_a_phase(lab, protocol, stagger, phase):
    """The newest committed checkpoint is the one before the failed attempt."""
    job, stop = start_with_fault(lab, protocol, stagger, phase)
    first = lab.checkpoint(job)["name"]
    assert lab.ckpt("checkpoint", job.pid).returncode != 0
    end_after_restart(lab, job, stop)
    assert [entry["name"] for entry in lab.checkpoints()] == [first]


def test_killed_agent_is_replaced(lab, native):
    program = programs.ring(60000)
    job = start(lab, program)
    lab.checkpoint(job)
    processes.kill(agent_of(lab, job))
    job.wait_for(program.progress, count=2)
    lab.checkpoint(job)
    job.succeed()
    assert lab.answer(program, job) == native(program).answer


@pytest.mark.waiting
def test_agents_that_die_at_once(lab):
    """The program does not start one agent after the other for ever."""
    stop = lab.directory / "stop"
    job = lab.start(programs.traffic(0, 2, stop), CKPT_FAULT="agent-at-join")
    job.wait_for("one agent after the other dies")
    stop.touch()
    programs.ok_line(job.succeed(), lab.work)


def test_requests_at_once(lab):
    """Both requests get a checkpoint, or the later one gets the reason for its refusal."""
    stop = lab.directory / "stop"
    job = start(lab, programs.traffic(0, 2, stop))
    results = []
    clients = [
        threading.Thread(
            target=lambda: results.append(lab.ckpt("checkpoint", job.pid))
        )
        for _ in range(2)
    ]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert any(done.returncode == 0 for done in results), results
    for done in results:
        assert done.returncode == 0 or "progress" in done.stderr, done.stderr
    stop.touch()
    programs.ok_line(job.succeed(), lab.work)


def test_agent_ends_with_the_job(lab):
    program = programs.ring(5000)
    job = start(lab, program)
    agent = agent_of(lab, job)
    job.succeed()
    assert processes.wait_until_gone([agent], 10)


def test_agent_ends_after_a_kill(lab):
    """The agent removes the ranks' shared memory."""
    program = programs.ring(1000000)
    job = start(lab, program)
    agent = agent_of(lab, job)
    segments = set().union(
        *(processes.shared_memory_of(rank) for rank in job.ranks())
    )
    assert segments
    for pid in [*job.ranks(), job.pid]:
        processes.kill(pid)
    assert processes.wait_until_gone([agent], 10)
    assert not [path for path in segments if Path(path).exists()]
    job.finish()


def test_only_the_owner_can_read(lab):
    program = programs.ring(20000)
    job = start(lab, program)
    lab.checkpoint(job)
    job.succeed()
    for path in [lab.store, *Path(lab.store).rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_periodic_checkpoints(lab, native):
    """CKPT_INTERVAL is enough; a restart takes the newest checkpoint."""
    program = programs.ring(60000)
    job = lab.start(program, CKPT_INTERVAL="200ms")
    job.wait_for(program.progress, count=100)
    numbers = [entry["number"] for entry in lab.checkpoints()]
    assert len(numbers) >= 2 and numbers == sorted(numbers)
    job.kill()
    again = lab.restart()
    again.succeed()
    assert lab.answer(program, job, again) == native(program).answer


def test_automatic_interval(lab):
    """The interval follows from the cost of checkpoints and the number of failed
    launches."""
    job = lab.start(programs.ring(10**8), CKPT_INTERVAL="auto", CKPT_MTBF="1s")
    job.wait_for("^step")
    lab.checkpoint(job)
    status = lab.ckpt_json("status", job.pid)[0]
    assert status["automatic"] and status["mtbf"] == 1 and status["failures"] == 0
    assert 0 < status["cost"] < 1 and status["interval"] == 1
    while len(lab.checkpoints()) < 2:
        assert job.run_on(0.05), "it ended"
    job.kill()
    again = lab.restart(CKPT_MTBF="")
    again.wait_for("^step")
    status = lab.ckpt_json("status", again.pid)[0]
    assert status["failures"] == 1 and 43200 < status["mtbf"] < 43300
    assert "(1 seen)" in lab.ckpt("status", again.pid).stdout
