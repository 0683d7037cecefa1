# SPDX-License-Identifier: BSD-3-Clause
"""Strangers on a job's network and other users on its nodes are refused and counted,
and nothing is lost."""

import subprocess
import sys
from pathlib import Path

import pytest

from ckpttest import cluster, programs
from ckpttest.tap import Tap

NOBODY = 65534
STRANGER = Path(cluster.__file__).with_name("stranger.py")
SILENT = 300  # connections; more than an agent accepts from strangers

pytestmark = pytest.mark.skipif(
    not cluster.is_possible(), reason="no network namespaces for this user"
)

# Sends a word to a socket; exits with 0 if the connection ends.
KNOCK = """
import socket, sys
client = socket.socket(socket.AF_UNIX, getattr(socket, sys.argv[2]))
client.connect(sys.argv[1])
try:
    client.send(b'{"version": 1, "command": "status"}\\n')
    sys.exit(1 if client.recv(100) else 0)
except (BrokenPipeError, ConnectionResetError):
    sys.exit(0)
"""


@pytest.fixture
def lab(box, tmp_path):
    """A lab on two of the nodes, whose agents also call their neighbours."""
    place = box.lab(tmp_path / "lab", names=["n1", "n2"], CKPT_PROTOCOL="ns")
    yield place
    place.close()


class Crowd:
    """The stranger on the third node."""

    def __init__(self, box, port, recorded):
        words = [sys.executable, STRANGER, "n1", port, recorded, SILENT]
        self.process = subprocess.Popen(
            [box.enter, "n3", *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def wait_for(self, word):
        """Waits until the stranger prints the word; otherwise the agent answered it,
        and it says what."""
        assert self.process.stdout.readline().strip() == word

    def end(self):
        """Lets the stranger end."""
        self.process.communicate()
        assert self.process.returncode == 0


def run_directory(box, name):
    """Returns the directory of the files of a node's agent."""
    return box.run / name / "ckpt"


def knock_as_another_user(box):
    """Connects to both sockets of a node, whose owner has left the directories open."""
    directory = run_directory(box, "n1")
    places = [box.run, directory.parent, directory]
    for place in places:
        place.chmod(0o711)
    for ending, kind in (("sock", "SOCK_SEQPACKET"), ("ctl", "SOCK_STREAM")):
        (path,) = directory.glob(f"*.{ending}")
        path.chmod(0o666)
        user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        command = [*user, sys.executable, "-c", KNOCK, path, kind]
        assert subprocess.run(command, cwd="/", check=False).returncode == 0
        path.chmod(0o600)
    for place in places:
        place.chmod(0o700)


def test_strangers(box, lab, tmp_path):
    """Garbage, truncated and forged frames, a recorded conversation, crowds of silent
    connections, and another user. Meanwhile the job is saved, also when an agent of its
    own has to connect among them."""
    stop = lab.directory / "stop"
    program = programs.traffic(0, 2, stop)
    tap = Tap(box.network.port("n1"))
    try:
        job = lab.start(program)
        job.wait_for(program.progress)
        lab.checkpoint(job)
    finally:
        tap.close()
    (file,) = run_directory(box, "n1").glob("*.addr")
    _, port, key, *_ = file.read_text("utf-8").split()
    said = [text for text in tap.said_to(int(port)) if text]
    assert said and all(key.encode() not in text for text in said)
    recorded = tmp_path / "recorded"
    recorded.write_bytes(said[0])
    assert "rejected" not in lab.ckpt_json("status", job.pid)[0]

    crowd = Crowd(box, port, recorded)
    lab.checkpoint(job)
    crowd.wait_for("silent")
    box.kill("n2", only="ckptd")
    job.wait_for(program.progress)
    lab.wait_for_agent(job)
    knock_as_another_user(box)
    lab.checkpoint(job)
    crowd.end()
    rejected = lab.ckpt_json("status", job.pid)[0]["rejected"]
    assert rejected["forged"] == 1
    assert rejected["replayed"] == 1
    assert rejected["malformed"] >= 4
    assert rejected["other_user"] == 2
    assert rejected["too_many"] >= SILENT - 256
    assert "  rejected: " in lab.ckpt("status", job.pid).stdout

    stop.touch()
    job.succeed()
    assert program.answer(job.lines, lab.work)


def test_another_incarnation(lab, tmp_path):
    """An agent left from another launch is refused."""
    stop = lab.directory / "stop"
    program = programs.traffic(0, 2, stop)
    wrapper = tmp_path / "on-n2"
    wrapper.write_text(
        "#!/bin/sh\n"
        '[ "$(hostname)" != n2 ] || export CKPT_INCARNATION=2\n'
        'exec "$@"\n',
        encoding="utf-8",
    )
    wrapper.chmod(0o755)
    program.argv.insert(0, wrapper)
    lab.options += ["-x", "CKPT_INCARNATION"]
    job = lab.start(program, CKPT_INCARNATION=1)
    job.wait_for(program.progress)
    while "rejected" not in (status := lab.ckpt_json("status", job.pid)[0]):
        assert job.run_on(0.05)
    assert set(status["rejected"]) == {"foreign"}
    assert status["phase"] == "starting"
    stop.touch()
    job.succeed()
