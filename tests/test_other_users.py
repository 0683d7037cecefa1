# SPDX-License-Identifier: BSD-3-Clause
"""Another user can write where the checkpoints are. ckpt refuses whatever that user puts there,
executes none of it, and changes or removes none of the victim's files."""

import json
import re
import shutil
import subprocess

import pytest

from ckpttest import processes, users
from ckpttest.users import JOB, MALLORY, VICTIM, TwoUsers

pytestmark = pytest.mark.skipif(
    not users.is_possible(), reason="needs root, and an installation that others may use"
)

PYTHON = "/usr/bin/python3"
NOT_YOURS = f"belongs to uid {MALLORY}"
NO_LINK = "is a link|Not a directory|Too many levels"


@pytest.fixture(name="saved", scope="module")
def fixture_saved():
    """A directory with a job of the victim that has three checkpoints."""
    place = TwoUsers()
    place.save(3)
    yield place
    place.close()


@pytest.fixture(name="two")
def fixture_two(saved):
    """A separate copy with such a job."""
    place = TwoUsers()
    shutil.rmtree(place.store)
    subprocess.run(["cp", "-a", saved.store, place.store], check=True)
    manifest = json.loads((place.job / "000003/manifest.json").read_text("utf-8"))
    manifest["launch"]["launcher"] = [str(place.evil / "mpirun"), "-np", "1", "./x"]
    manifest["launch"]["application"] = ["./x"]
    (place.evil / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    program = place.evil / "mpirun"
    program.write_text(f"#!/bin/sh\ntouch {place.pwned}\n", encoding="utf-8")
    program.chmod(0o755)
    yield place
    place.close()


# Attacks on the job in a directory of mode 0777.
MOVED = "mv $JOB .old; "
HER_JOB = MOVED + "mkdir $JOB $JOB/000003; cp .mark $JOB/.ckpt-job; "
INSTEAD_OF_JOB = {
    "her directory": HER_JOB + "cp $EVIL/manifest.json $JOB/000003",
    "her directory with links to the victim's": HER_JOB
    + "for file in .old/000003/*; do ln -s ../../$file $JOB/000003; done",
    "a link to her directory": MOVED
    + "mkdir -p $EVIL/job/000003; cp .mark $EVIL/job/.ckpt-job; "
    "cp $EVIL/manifest.json $EVIL/job/000003; ln -s $EVIL/job $JOB",
    "a link to a directory of the victim's": MOVED + "ln -s $PRIVATE $JOB",
}


def open_up(two, mode=0o777, inside=False):
    """Lets others write into the store; inside: into the job's directory, too."""
    (two.store / ".mark").write_bytes((two.job / ".ckpt-job").read_bytes())
    (two.store / ".mark").chmod(0o644)
    two.store.chmod(mode)
    for path in [two.job, *two.job.glob("0*")]:
        path.chmod(mode if inside else 0o755)
    if not inside:
        for path in two.job.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)


@pytest.mark.parametrize("attack", INSTEAD_OF_JOB)
def test_instead_of_the_job(two, attack):
    open_up(two)
    two.mallory(INSTEAD_OF_JOB[attack])
    old = users.snapshot(two.store / ".old")
    for words in (["verify", JOB], ["restart", JOB], ["restart", f"{JOB}/3"],
                  ["restart", "--verify", "none", f"{JOB}/3"]):
        done = two.ckpt(*words)
        assert done.returncode != 0, done
        assert re.search(f"{NOT_YOURS}|{NO_LINK}|no committed|no checkpoint", done.stderr), done
    done = two.ckpt("gc", "--keep", "1")
    assert "removed job" not in done.stdout
    done = two.ckpt("run", "--name", JOB, "--", "true")
    assert done.returncode == 4 and re.search(f"{NOT_YOURS}|{NO_LINK}", done.stderr), done
    two.expect_unharmed()
    assert users.snapshot(two.store / ".old") == old


# Replacements for files of ckpt, in a job's directory that others can write to.
FILES = ["manifest.json", "node"]
REPLACED = {
    "hers": "rm -f $FILE; cp $GOOD $FILE",
    "a link to hers": "rm -f $FILE; ln -s $GOOD $FILE",
    "a link to the victim's": "rm -f $FILE; ln -s $PRIVATE/$KIND $FILE",
    "a directory": "rm -f $FILE; mkdir $FILE",
    "a pipe": "rm -f $FILE; mkfifo $FILE",
}


@pytest.mark.parametrize("how", REPLACED)
@pytest.mark.parametrize("kind", FILES)
def test_a_file_of_a_checkpoint(two, kind, how):
    open_up(two, inside=True)
    (image,) = (two.job / "000003").glob("node-*.h5")
    good, file = two.evil / "manifest.json", two.job / "000003/manifest.json"
    if kind == "node":
        good, file = two.evil / image.name, image
        shutil.copy(image, good)
    good.chmod(0o644)
    victims = "manifest.json" if kind == "manifest.json" else "node-vm.h5"
    two.mallory(f"FILE={file} GOOD={good} KIND={victims}; {REPLACED[how]}")
    for words in (["verify", f"{JOB}/3"], ["restart", f"{JOB}/3"],
                  ["restart", "--verify", "none", f"{JOB}/3"]):
        done = two.ckpt(*words)
        assert done.returncode != 0, done
        assert re.search(f"{NOT_YOURS}|{NO_LINK}|not a regular file|incomplete", done.stderr), done
    assert two.ckpt("verify", f"{JOB}/2").returncode == 0
    two.expect_unharmed()


RECORDS = ["job.json", "owner", "supervisor", "journal", "input", "log"]
PLANTED = {
    "hers": "echo hers > $FILE",
    "a link to the victim's": "ln -s $PRIVATE/thesis $FILE",
    "a dangling link": "ln -s $PRIVATE/new $FILE",
    "a directory": "mkdir $FILE",
    "a link to a directory of the victim's": "ln -s $PRIVATE $FILE",
}


@pytest.mark.parametrize("how", PLANTED)
@pytest.mark.parametrize("record", RECORDS)
def test_a_record_of_the_job(two, record, how):
    """ckpt reports what it refuses, and does whatever works without the file or with a new one."""
    open_up(two, inside=True)
    (log,) = two.job.glob("ckptd-*.log")
    name = log.name if record == "log" else record
    two.mallory(f"FILE={two.job}/{name}; mv $FILE $FILE.gone || true; {PLANTED[how]}")
    run = two.start("--resume", "--files", "rollback")
    said = re.compile(r"^ckpt\S*: .", re.MULTILINE)
    two.wait_until(lambda: run.poll() is not None or two.status() or said.search(two.output()))
    if run.poll() is None and two.status():
        done = two.ckpt("checkpoint", JOB)
        assert done.returncode == 0 or said.search(done.stderr), done
    else:
        assert said.search(two.output()), two.output()
    two.kill()
    two.ckpt("gc", "--keep", "1")
    two.expect_unharmed()


# Attacks on names that the victim has not used yet, where others may only add names.
NEW_JOB = {
    "her directory": "mkdir new",
    "her directory with a mark": "mkdir new; cp .mark new/.ckpt-job",
    "a link to the victim's": "ln -s $PRIVATE new",
    "a link to her directory": "mkdir $EVIL/new; chmod 777 $EVIL/new; ln -s $EVIL/new new",
    "a dangling link": "ln -s $PRIVATE/new new",
    "a file": "echo hers > new",
}


@pytest.mark.parametrize("mode", [0o777, 0o1777])
@pytest.mark.parametrize("attack", NEW_JOB)
def test_a_job_that_begins(two, attack, mode):
    open_up(two, mode)
    two.mallory(NEW_JOB[attack])
    done = two.ckpt("run", "--name", "new", "--", "touch", two.private / "started")
    assert done.returncode == 4, done
    assert re.search(f"{NOT_YOURS}|{NO_LINK}|is not a directory", done.stderr), done
    two.ckpt("gc")
    two.expect_unharmed()


def test_a_store_of_another_user(two):
    two.mallory("mkdir $EVIL/store; chmod 1777 $EVIL/store")
    for words in (["run", "--name", "new", "--", "true"], ["list"], ["gc"], ["restart"]):
        done = two.ckpt(*words, CKPT_DIR=two.evil / "store")
        assert done.returncode != 0 and NOT_YOURS in done.stderr, done
    two.expect_unharmed()


SWAP = """
while :; do
    mv -T $JOB .old; ln -s $PRIVATE $JOB; rm $JOB; mv -T .old $JOB
done
"""


def test_a_directory_that_is_swapped_for_a_link(two):
    """The swaps go on while commands work in the directory."""
    open_up(two)
    for path in [two.private / "000001", two.private]:
        shutil.copy(two.store / ".mark", path / ".ckpt-job")
        (path / ".ckpt-job").chmod(0o600)
        shutil.chown(path / ".ckpt-job", VICTIM, VICTIM)
    two.before = users.snapshot(two.private)
    swapping = subprocess.Popen(
        users.become(MALLORY, "sh", "-c", SWAP), cwd=two.store, stderr=subprocess.DEVNULL,
        env={"JOB": JOB, "PRIVATE": str(two.private), "PATH": "/usr/bin:/bin"},
        start_new_session=True,
    )  # fmt: skip
    try:
        for _ in range(15):
            for words in (["gc", "--keep", "1"], ["verify", JOB], ["list"]):
                done = two.ckpt(*words)
                assert done.returncode >= 0, done
            two.expect_unharmed()
    finally:
        processes.kill(swapping.pid)
        swapping.wait()


def test_a_run_directory_of_another_user(two):
    """Any user can make a directory such as /tmp/ckpt-UID before its user does."""
    two.mallory("mkdir $EVIL/run; chmod 777 $EVIL/run")
    done = two.ckpt("run", "--name", "new", "--", "true", CKPT_RUN_DIR=two.evil / "run")
    assert NOT_YOURS in done.stderr, done
    assert not list((two.evil / "run").iterdir())


LISTEN = """
import os, socket, sys
os.unlink(sys.argv[1])
server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
server.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
server.listen()
print("listens", flush=True)
while True:
    client, _ = server.accept()
    print(client.recv(1000), flush=True)
    client.close()
"""


def test_a_socket_of_another_user(two):
    """The socket is in a run directory that others can write to, in place of the agent's socket. No
    command speaks to it. Commands may still find the agent, or ckpt run."""
    two.start("--files", "ignore", "--resume")
    two.wait_until(two.status)
    two.run.chmod(0o777)
    (control,) = two.run.glob("*.ctl")
    server = subprocess.Popen(
        users.become(MALLORY, PYTHON, "-c", LISTEN, control), cwd="/", text=True,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert server.stdout.readline() == "listens\n"
        for command in ("checkpoint", "status", "swap"):
            done = two.ckpt(command, JOB)
            assert NOT_YOURS in done.stderr or done.returncode == 0, done
    finally:
        server.kill()
        heard, _ = server.communicate()
    assert set(heard.split()) <= {"b''"}
