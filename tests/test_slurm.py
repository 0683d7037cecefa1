# SPDX-License-Identifier: BSD-3-Clause
"""A real Slurm of two nodes: the unchanged scripts in docs/slurm, salloc, srun."""

import re
import shutil

import pytest

from ckpttest import inputs, pmix, processes, programs, recoveries, slurm
from ckpttest.settings import APPS, INSTALL, TOP

SCRIPTS = TOP / "docs/slurm"

pytestmark = [
    pytest.mark.skipif(bool(slurm.missing()), reason=slurm.missing() or "-"),
    pytest.mark.xdist_group("slurm"),  # they share a cluster
]


@pytest.fixture(scope="module", name="cluster")
def fixture_cluster(tmp_path_factory):
    made = slurm.Slurm(tmp_path_factory.mktemp("slurm") / "s")
    yield made
    made.close()


@pytest.fixture(autouse=True)
def nobody_else(request):
    """Cancels the jobs that a failed test left, for the next test."""
    yield
    request.getfixturevalue("cluster").cancel_all()


class Place:
    """A directory with a program called app in it, as the scripts want it. The default program
    checks itself and runs until end()."""

    def __init__(self, cluster, directory, program=None):
        self.stop = directory / "stop"
        self.program = program or programs.churn(0, stop_file=self.stop)
        self.program.prepare(directory)
        (directory / "app").symlink_to(shutil.which(self.program.argv[0]))
        self.cluster = cluster
        self.directory = directory

    def submit(self, script, *options):
        """Submits one of the example scripts."""
        arguments = self.program.argv[1:]
        return self.cluster.submit(
            self.directory, SCRIPTS / f"{script}.sbatch", *arguments, options=options
        )

    def submit_line(self, line, *options):
        """Submits a script of one line."""
        script = self.directory / "script"
        script.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        return self.cluster.submit(self.directory, script, options=options)

    def start(self, *command):
        """Starts a command on the first node, and does not wait for its end."""
        return self.cluster.start(self.directory, *command)

    def words(self, *launcher):
        """Returns the words that run the program by a launcher."""
        return [*launcher, "./app", *self.program.argv[1:]]

    def end(self, *parts):
        """Lets the program end, which must succeed; returns all its output."""
        self.stop.touch()
        parts[-1].succeed()
        return self.program.answer([line for p in parts for line in p.lines], self.directory)


@pytest.fixture(name="place")
def fixture_place(cluster, tmp_path):
    return lambda program=None: Place(cluster, tmp_path, program)


def be_saved(job, number):
    """Waits until the warned job has been saved and is about to run again."""
    job.wait_for(f"ckpt: saved as app-{job.number}/{number}$")
    job.start_again_soon()


def go_on(here, job, number):
    """Waits until the job runs again from that checkpoint."""
    be_saved(job, number)
    job.wait_for(f"ckpt: the job goes on from app-{job.number}/{number}$")
    go_further(here, job)


def go_further(here, job):
    """Waits for another progress report."""
    reports = sum(bool(re.search(here.program.progress, line)) for line in job.lines)
    job.wait_for(here.program.progress, count=reports + 1)


@pytest.mark.parametrize("script", ["mpirun", "srun"])
def test_preempted(place, script):
    """Slurm needs the job's two nodes for another job, and then runs it again."""
    here = place()
    job = here.submit(script, "--nodes=2", "--ntasks-per-node=1")
    job.wait_for(here.program.progress)
    other = here.submit_line("sleep 1", "--partition=high", "--nodes=2", "--exclusive")
    other.succeed()
    go_on(here, job, 1)
    here.end(job)
    assert job.facts()["Restarts"] == "1"


def test_warned(place, native):
    """The warning comes as before a time limit. The program is an unmodified one of Debian."""
    here = place(programs.lammps(200))
    job = here.submit("mpirun")
    job.wait_for(here.program.progress, count=2)
    job.warn()
    go_on(here, job, 1)
    assert here.end(job) == native(here.program).answer


def test_without_mpi(place):
    """The output of the second launch follows the output of the first in the same file."""
    here = place(programs.Program("merge sort", [APPS / "threaded/merge_sort", 16, 2, 150], 1))
    job = here.submit("program")
    job.wait_for("^step", count=2)
    job.warn()
    be_saved(job, 1)
    here.end(job)
    assert job.facts()["Restarts"] == "1"


def test_standard_input(place, cluster):
    """srun forwards it to all tasks, and one of them reads it; a rank is killed twice."""
    lines = 3000
    here = place(programs.reader(lines, 1000))
    (here.directory / "input").write_text(inputs.numbers(lines), encoding="utf-8")
    words = " ".join(map(str, here.program.argv[1:]))
    job = here.submit_line(
        f"ckpt run --interval 300ms --back-off 10ms -- srun ./app {words} < input",
        "--nodes=2", "--ntasks-per-node=1",
    )
    for restart in (1, 2):
        job.wait_for(here.program.progress, count=100)
        cluster.wait_for_checkpoint(here.directory, f"app-{job.number}", restart)
        cluster.kill_a_rank("app")
        job.wait_for(f"^ckpt: .*; restart {restart} of at most 10, from app-")
    job.succeed()
    steps = [int(line.split()[1]) for line in job.lines if line.startswith("step")]
    assert set(steps) == set(range(lines))
    assert job.lines[-1].startswith(f"OK {lines} lines"), job.lines[-1]


@pytest.mark.parametrize(
    "launcher, options",
    [
        ("-- mpirun", ["--nodelist=n1", "--ntasks=2"]),
        ("-- mpirun", ["--nodes=2", "--ntasks-per-node=1"]),
        ("--ranks 2 --", ["--nodelist=n1", "--ntasks=2"]),
    ],
    ids=["mpirun", "mpirun-nodes", "alone"],
)
def test_a_rank_dies(place, cluster, launcher, options):
    """The job recovers in place, twice, and Slurm does not notice."""
    here = place()
    words = " ".join(map(str, here.words()))
    run = f"ckpt run --keep-copies yes --interval 0 {launcher} {words}"
    job = here.submit_line(run, *options)
    for recovery in (1, 2):
        go_further(here, job)
        cluster.save_with_copies(here.directory, f"app-{job.number}")
        cluster.kill_a_rank("app")
        job.wait_for(recoveries.RECOVERED, count=recovery)
    go_further(here, job)
    here.end(job)
    assert job.facts()["Restarts"] == "0"
    assert not any(" restart " in line for line in job.lines), job.lines


def test_two_commands_of_one_job(place):
    """When the batch job starts again, the second command goes on from its own checkpoint."""
    here = place()
    run = "ckpt run --warning-signal USR1 --requeue -- mpirun ./app"
    job = here.submit_line(
        f"{run} 50 && exec {run} 0 stop", "--ntasks=2", "--open-mode=append"
    )
    job.wait_for("^step 64$")
    job.warn()
    go_on(here, job, 1)
    here.stop.touch()
    job.succeed()
    assert len({line for line in job.lines if line.startswith("OK")}) == 2


def test_exit_code(place):
    """A job that fails by itself also fails in Slurm, and is not requeued."""
    job = place().submit_line("exec ckpt run --requeue -- sh -c 'exit 7'")
    facts = job.wait_for_state("FAILED")
    assert (facts["ExitCode"], facts["Restarts"]) == ("7:0", "0")


def test_cancelled(place):
    """A cancelled job is neither saved nor started again."""
    here = place()
    job = here.submit("mpirun")
    job.wait_for(here.program.progress)
    here.cluster.run("scancel", job.number)
    assert job.wait_for_state("CANCELLED")["Restarts"] == "0"
    assert not any(re.search("saved|restart", line) for line in job.lines), job.lines


def test_drained(cluster, place):
    """The job goes on while its node drains, and on another node after a warning."""
    here = place()
    job = here.submit("srun")
    job.wait_for(here.program.progress)
    node = job.facts()["NodeList"]
    cluster.run("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=test")
    try:
        job.wait_for(here.program.progress, count=2)
        job.warn()
        go_on(here, job, 1)
        assert job.facts()["NodeList"] not in ("", node)
    finally:
        cluster.run("scontrol", "update", f"NodeName={node}", "State=RESUME")
    here.end(job)


@pytest.mark.parametrize("launcher", ["mpirun", "srun"])
def test_salloc(place, launcher):
    """Ranks die in an allocation: there `ckpt run` restarts the job, and in another allocation a
    user does."""
    here = place()
    salloc = ["salloc", "--ntasks=2", "--nodelist=n1"]
    run = ["ckpt", "run", "--name", "job", "--max-restarts", "1", "--keep-copies", "no", "--"]
    job = here.start(*salloc, *run, *here.words(launcher))
    job.wait_for(here.program.progress)
    here.cluster.run("ckpt", "checkpoint", "job", directory=here.directory)
    here.cluster.kill_a_rank("app")
    job.wait_for("restart 1 of at most 1, from job/1$")
    job.wait_for(here.program.progress)
    here.cluster.kill_a_rank("app")
    assert job.finish() not in (0, 75)
    again = here.start(*salloc, "ckpt", "restart", "job")
    again.wait_for(here.program.progress)
    here.end(job, again)


def test_lost_node(tmp_path):
    """With --no-kill the allocation survives the node, and the job goes on on the remaining
    nodes."""
    cluster = slurm.Slurm(tmp_path / "slurm", node_timeout=3)
    try:
        here = Place(cluster, tmp_path)
        run = "exec ckpt run --name job --interval 1 -- mpirun --oversubscribe -np 2 ./app 0 stop"
        options = ["--no-kill", "--nodes=2", "--ntasks-per-node=1"]
        job = here.submit_line(run, *options)
        cluster.wait_for_checkpoint(here.directory, "job", 1)
        cluster.nodes.kill("n2")
        job.wait_for("ckpt: 1 of 2 nodes are left: n1$")
        go_further(here, job)
        here.end(job)
    finally:
        cluster.close()


def test_srun_without_run(place):
    """`srun` with the variables that `ckpt tune` prints for mpirun."""
    here = place()
    plugin = INSTALL / "lib/ckpt/libckpt-mpi.so"
    export = f"--export=ALL,LD_PRELOAD={plugin},CKPT_NAME=job"
    job = here.start(*here.words("srun", "--mpi=pmix", "--ntasks=2", "--nodes=1", export))
    job.wait_for(here.program.progress)
    here.cluster.run("ckpt", "checkpoint", "--kill", "job", directory=here.directory)
    assert job.finish() != 0
    again = here.start("ckpt", "restart", "job")
    again.wait_for(here.program.progress)
    here.end(job, again)


def test_pmix_request(place):
    """Slurm's server delivers events to the ranks of a node, and does not kill the step for events
    that need no handler."""
    here = place()
    plugin = INSTALL / "lib/ckpt/libckpt-mpi.so"
    export = f"--export=ALL,LD_PRELOAD={plugin},CKPT_NAME=job"
    job = here.start(*here.words("srun", "--mpi=pmix", "--ntasks=2", "--nodes=1", export))
    job.wait_for(here.program.progress)
    running = here.cluster.nodes.processes("n1")
    ranks = [pid for pid in running if processes.name_of(pid) == "app"]
    asked = here.start(*pmix.command_of_client(ranks, 1))
    assert pmix.answer_in("\n".join(asked.succeed())) == pmix.COMPLETE
    here.cluster.wait_for_checkpoint(here.directory, "job", 1)
    job.wait_for(here.program.progress, count=3)
    here.end(job)
