# SPDX-License-Identifier: BSD-3-Clause
"""Files roll back with the program (docs/file-journal.md)."""

import os
import random

import pytest

from ckpttest import processes, refusals, trees, writers
from ckpttest.lab import Lab

SCRIPT = """
import os, sys, time
from mpi4py import MPI
world = MPI.COMM_WORLD
def do_step(step):
    {body}
for step in range({steps}):
    if world.rank == 0:
        while step in {stops} and not os.path.exists("{let}/%d" % step):
            time.sleep(0.02)
        do_step(step)
        print("step", step, flush=True)
    world.Barrier()
    time.sleep(0.02)
"""

# The code of one step: `state` holds a number that each step computes from the previous one.
KINDS = {
    "rewritten": """
    last = int(open("state").read()) if os.path.exists("state") else 0
    open("state", "w").write(str(last * 31 % 1000003 + step))
""",
    "appended": """
    with open("log", "a") as log:
        log.write("step %d\\n" % step)
""",
    "renamed": """
    last = int(open("state").read()) if os.path.exists("state") else 0
    open("state.tmp", "w").write(str(last * 31 % 1000003 + step) + " " * 5000)
    os.replace("state.tmp", "state")
""",
    "scratch": """
    name = "scratch.%d" % (step % 7)
    open(name, "w").write("x" * step)
    if step % 3:
        os.unlink(name)
""",
    "in-place": """
    if not os.path.exists("cells"):
        open("cells", "wb").write(bytes(300000))
    with open("cells", "r+b") as cells:
        at = step * 7919 % 299000
        cells.seek(at)
        old = cells.read(1)[0]
        cells.seek(at)
        cells.write(bytes([(old + step) % 251]) * 900)
""",
    "large": """
    last = open("large", "rb").read()[:8] if os.path.exists("large") else b"00000000"
    open("large", "wb").write(b"%08d" % ((int(last) * 31 + step) % 10**8) + bytes(500000 + step))
""",
    "directories": """
    name, other = ("a", "b") if os.path.exists("a") else ("b", "a")
    os.makedirs(name, exist_ok=True)
    with open(name + "/list", "a") as file:
        file.write("%d\\n" % step)
    os.rename(name, other)
""",
    "links": """
    if os.path.lexists("link"):
        os.unlink("link")
    os.symlink("to-%d" % step, "link")
""",
    "hard links": """
    open("linked", "a").close()
    os.link("linked", "other")
    with open("other", "r+") as file:
        file.write("%d " % step * 300)
    os.unlink("other")
""",
    "attributes": """
    open("file", "a").close()
    os.chmod("file", 0o600 + step % 8)
    os.utime("file", ns=(10**18, 11 * 10**17 + step))
""",
    "whole seconds": """
    name, now = "file.%d" % step, int(time.time())
    open(name, "w").write("Step %d" % step)
    os.utime(name, (now, now))
""",
    "children": """
    assert os.system("echo %d >> by-shell; cp by-shell copy; mv copy moved" % step) == 0
""",
}


class Steps:
    """A kind of change as an MPI program in Python. stops: steps before which it waits until it
    is let on, however long the commands in between take."""

    name = "steps"
    ranks = 2
    progress = r"^step (\d+)"

    def __init__(self, lab, kind, steps, stops=()):
        script = lab.directory / "steps.py"
        self.let = lab.directory / "let"
        self.let.mkdir()
        text = SCRIPT.format(body=KINDS[kind].strip(), steps=steps, stops=stops, let=self.let)
        script.write_text(text, encoding="utf-8")
        self.argv = ["/usr/bin/python3", "-B", script]

    def let_on(self, step):
        """It does this step, too, in this life and all others."""
        (self.let / str(step)).touch()

    def prepare(self, directory):
        """Makes the files that the program needs."""


def files_of(lab):
    """Returns the files that the program has made."""
    return trees.look_at(lab.work)


def undisturbed_files(lab, kind):
    """Returns the files of an undisturbed run."""
    other = Lab(lab.directory / "undisturbed")
    other.start_native(Steps(other, kind, 60)).succeed()
    return files_of(other)


def save(lab, job):
    """Takes a checkpoint. It is refused while a child process of the program runs."""
    done = lab.ckpt("checkpoint", job.pid)
    while done.returncode != 0:
        assert refusals.identity(done.stderr) in refusals.OF_CHILDREN, done
        done = lab.ckpt("checkpoint", job.pid)


def save_and_kill(lab, kind):
    """Saves a job after some of its steps, and kills it some steps later."""
    program = Steps(lab, kind, 60, stops=(30, 50))
    job = lab.start(program)
    job.wait_for("^step 20$")
    save(lab, job)
    program.let_on(30)
    job.wait_for("^step 40$")
    lab.kill_and_wait_for_agent(job)
    program.let_on(50)


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(lab, kind):
    """After a checkpoint, a kill and a restart, the files equal those of an undisturbed run."""
    save_and_kill(lab, kind)
    lab.restart().succeed()
    trees.require_same(undisturbed_files(lab, kind), files_of(lab))


def test_job_that_begins_again(lab):
    """The job fails before its first checkpoint: the files are those of its beginning."""
    program = Steps(lab, "appended", 60, stops=(30,))
    run = [lab.ckpt_program, "run", "--name", "job", "--back-off", "0.1s", "--"]
    # pylint: disable-next=protected-access
    job = lab._start([*run, *lab.mpirun_command(program)], {})
    job.wait_for("^step 20$")
    processes.kill(job.ranks()[-1])
    job.wait_for("from the beginning")
    program.let_on(30)
    job.succeed()
    lines = (lab.work / "log").read_text(encoding="utf-8").splitlines()
    assert lines == [f"step {i}" for i in range(60)]
    assert not (lab.store / "job").exists() or not (lab.store / "job/journal").exists()


def test_file_changed_by_another_program(lab):
    """The restart names the file and changes nothing; --files ignore goes on."""
    save_and_kill(lab, "appended")
    log = lab.work / "log"
    log.write_text(log.read_text(encoding="utf-8")[:30], encoding="utf-8")
    before = files_of(lab)
    refused = lab.ckpt("restart")
    assert refused.returncode == 1
    assert str(log) in refused.stderr and "--files ignore" in refused.stderr
    assert files_of(lab) == before
    assert lab.ckpt("restart", "--files", "check").returncode == 1
    assert lab.ckpt("restart", "--files", "ignore").returncode == 0


def test_file_changed_within_a_tick_by_another_program(lab):
    """Size and time are the same: only the content differs. The journal begins with the first
    checkpoint, so there are two."""
    program = Steps(lab, "whole seconds", 60, stops=(20, 40))
    job = lab.start(program)
    job.wait_for("^step 10$")
    save(lab, job)
    program.let_on(20)
    job.wait_for("^step 30$")
    save(lab, job)
    newest = lab.checkpoints()[-1]["name"]
    lab.kill_and_wait_for_agent(job)
    for path in lab.work.glob("file.*"):
        times = path.stat()
        path.write_text(path.read_text("utf-8").swapcase(), encoding="utf-8")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    refused = lab.ckpt("restart", newest)
    assert refused.returncode == 1
    assert "another content" in refused.stderr and "--files ignore" in refused.stderr


def test_older_checkpoint(lab):
    """Files also roll back to the checkpoint before the newest."""
    program = Steps(lab, "renamed", 60, stops=(20, 35, 50))
    job = lab.start(program)
    job.wait_for("^step 10$")
    first = lab.checkpoint(job)["name"]
    program.let_on(20)
    job.wait_for("^step 25$")
    lab.checkpoint(job)
    program.let_on(35)
    job.wait_for("^step 40$")
    lab.kill_and_wait_for_agent(job)
    program.let_on(50)
    lab.restart(first).succeed()
    trees.require_same(undisturbed_files(lab, "renamed"), files_of(lab))


def test_kept_file_is_gone(lab):
    """A restart that cannot be carried out changes nothing."""
    save_and_kill(lab, "renamed")
    for kept in lab.store.glob("*/journal/kept/*"):
        os.unlink(kept)
    before = files_of(lab)
    refused = lab.ckpt("restart")
    assert refused.returncode == 1 and "kept" in refused.stderr
    assert files_of(lab) == before


@pytest.mark.parametrize("seed", [1, 2])
def test_tree_is_killed_at_random_moments(lab, seed):
    """tests/campaign-files does this at length."""
    assert trees.run(lab, 4, seed)["kills"] > 0


@pytest.mark.parametrize("name", writers.SHORT)
def test_writers(tmp_path, name):
    """Debian's libraries that write, replace and close files: each is killed at a random moment."""
    seed = random.randrange(1000000)
    totals = writers.torment(tmp_path, writers.SHORT[name], 1, seed)
    assert totals["restarts"] == totals["kills"] == 1, seed
