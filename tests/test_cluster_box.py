# SPDX-License-Identifier: BSD-3-Clause
"""The cluster in a box, which provides the nodes of other tests: each operation on a
node or a link takes effect there, and nowhere else."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from ckpttest import cluster, processes, programs
from ckpttest.job import Job
from ckpttest.settings import TIMEOUT, environment

TOOL = Path(__file__).with_name("cluster")
SOON = 0.3  # seconds to wait for bytes that must not arrive

pytestmark = pytest.mark.skipif(
    not cluster.is_possible(), reason="nodes need root and network namespaces"
)

# Sends back a checksum of each connection's bytes.
SERVER = """
import hashlib, socket
server = socket.create_server(("", 7000))
print("ready", flush=True)
while True:
    connection, _ = server.accept()
    content = hashlib.sha256()
    while got := connection.recv(65536):
        content.update(got)
    connection.sendall(content.hexdigest().encode())
    connection.close()
"""

# HOST SECONDS BYTES: sends bytes to the server; prints the answer and the time it took.
CLIENT = """
import socket, sys, time
began = time.monotonic()
host, timeout, size = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
connection = socket.create_connection((host, 7000), timeout)
connection.sendall(bytes(size))
connection.shutdown(socket.SHUT_WR)
print(connection.recv(100).decode(), time.monotonic() - began)
"""


def run_on(box, name, *words):
    """Runs a command on a node; returns how it ended."""
    return subprocess.run(
        box.command(name, *words),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def start_on(box, name, *words):
    """Starts a command in the background, and waits for its first line."""
    job = Job(box.command(name, *words), box.directory, environment())
    job.wait_for(".")
    return job


def serve(box, *names):
    """Starts the server on nodes."""
    return [start_on(box, name, sys.executable, "-c", SERVER) for name in names]


def ask(box, name, other, size=1, timeout=TIMEOUT):
    """Returns the answer of `other` and its seconds; None if it cannot be reached."""
    client = [sys.executable, "-c", CLIENT, other, timeout, size]
    done = run_on(box, name, *client)
    if done.returncode != 0:
        return None
    answer, seconds = done.stdout.split()
    assert answer == hashlib.sha256(bytes(size)).hexdigest()
    return float(seconds)


def is_reached(box, name, other):
    """Whether `other` answers at once."""
    return ask(box, name, other, timeout=SOON) is not None


def contents(box, name):
    """Lists a node's own directories, as the node sees them."""
    places = ["/dev/shm", box.scratch, box.run / "here"]
    return run_on(box, name, "ls", "-A", *places).stdout.split("\n")


def fill(box, name):
    """Makes a file in each of the node's own directories."""
    for place in ("/dev/shm", box.scratch, box.run / "here"):
        assert run_on(box, name, "touch", f"{place}/file-of-{name}").returncode == 0


def test_own_places(box):
    """Each node has its host name, shared memory, scratch and run directory."""
    assert run_on(box, "n1", "hostname").stdout == "n1\n"
    fill(box, "n1")
    assert contents(box, "n1").count("file-of-n1") == 3
    assert contents(box, "n2").count("file-of-n1") == 0
    assert not Path("/dev/shm/file-of-n1").exists()


def test_kill_and_lose(box):
    """The disk's files survive kill(), but not lose()."""
    fill(box, "n1")
    fill(box, "n2")
    wait = ["sh", "-c", "echo ready; sleep 1000"]
    jobs = {name: start_on(box, name, *wait) for name in box.all}
    box.kill("n1")
    assert jobs["n1"].finish() != 0
    assert box.processes("n1") == [] != box.processes("n2")
    assert contents(box, "n1").count("file-of-n1") == 2
    box.lose("n2")
    assert jobs["n2"].finish() != 0
    assert contents(box, "n2").count("file-of-n2") == 0
    assert box.processes("head") != [] != box.processes("n3")


def test_cut_and_mend(box):
    serve(box, "n1", "n2", "n3")
    assert ask(box, "n1", "n2")
    box.cut("n2")
    assert not is_reached(box, "n1", "n2")
    assert not is_reached(box, "n2", "n1")
    assert ask(box, "n1", "n3")
    rsh = run_on(box, "n1", box.enter, "n2", "hostname")
    assert (rsh.returncode, rsh.stdout) == (255, "")
    assert "n2: No route to host" in rsh.stderr
    box.mend("n2")
    assert ask(box, "n1", "n2")
    assert run_on(box, "n1", box.enter, "n2", "hostname").stdout == "n2\n"


def test_partition(box):
    """A node that is in no group is with the first one."""
    serve(box, "n1", "n2", "n3")
    box.partition(["n1"], ["n2", "n3"])
    assert not is_reached(box, "n1", "n2")
    assert not is_reached(box, "n3", "n1")
    assert not is_reached(box, "head", "n2")
    assert run_on(box, "head", box.enter, "n2", "true").returncode == 255
    assert ask(box, "n2", "n3")
    assert ask(box, "head", "n1")
    box.partition(["n1", "n2"], ["n3"])
    assert ask(box, "n2", "n1")
    assert not is_reached(box, "n2", "n3")
    box.mend()
    assert ask(box, "n2", "n3")
    assert ask(box, "n3", "n1")


@pytest.mark.skipif(not cluster.can_delay(), reason="delays need /dev/net/tun")
def test_delay(box):
    """Delays both directions, for the connection, the bytes and the answer. Nothing is
    lost or changed, and the link can still be cut and mended."""
    serve(box, "n1", "n2")
    box.delay("n2", 20)
    assert ask(box, "n1", "n2") >= 4 * 0.02
    assert ask(box, "n1", "n2", 1_000_000) >= 4 * 0.02
    assert ask(box, "n2", "n1", 1_000_000) >= 4 * 0.02
    box.partition(["n1"], ["n2"])
    assert not is_reached(box, "n1", "n2")
    box.cut("n2")
    box.mend()
    assert ask(box, "n1", "n2") >= 4 * 0.02
    box.delay("n2", 1)
    assert ask(box, "n1", "n2")
    assert box.network.delay_of("n2") == 1
    box.delay("n2", 0)
    assert ask(box, "n1", "n2")
    assert box.network.delay_of("n2") == 0


def test_stop_and_go_on(box):
    """Also processes that the node's shells have started stop."""
    count = "while echo counting; do sleep 0.01; done"
    stopped, other = (start_on(box, name, "sh", "-c", count) for name in ("n1", "n2"))
    box.stop("n1")
    assert all(map(processes.is_stopped, box.processes("n1")))
    stopped.run_on(0.1)  # reads its earlier output
    before = len(stopped.lines)
    other.wait_for("counting", count=50)
    assert len(stopped.lines) == before
    box.go_on("n1")
    stopped.wait_for("counting", count=before + 1)
    box.stop("n1")
    box.kill("n1")
    assert stopped.finish() != 0


def test_head(box, tmp_path):
    """Commands run on the head, and ranks elsewhere."""
    lab = box.lab(tmp_path / "lab", head=True)
    assert run_on(box, lab.node, "hostname").stdout == "head\n"
    job = lab.start_native(programs.Program("hostname", ["hostname"], 3))
    # The other lines are mpirun's warnings.
    said = [line for line in job.succeed() if line in box.all]
    assert sorted(said) == ["n1", "n2", "n3"]
    done = lab.on("n2").ckpt("status")
    assert "no job" in done.stderr, done


def tool(state, *words):
    """Runs tests/cluster with its nodes described in `state`."""
    return subprocess.run(
        [TOOL, "--state", state, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def test_by_hand(tmp_path):
    """tests/cluster: each command finds the nodes as the previous command left them."""
    state = tmp_path / "state"
    assert tool(state, "status").returncode == 1
    try:
        assert tool(state, "up", 2).returncode == 0
        assert "is there already" in tool(state, "up", 2).stderr
        assert tool(state, "enter", "n2", "hostname").stdout == "n2\n"
        for words in (["cut", "n1"], ["partition", "n1", "n2,head"], ["lose", "n2"]):
            assert tool(state, *words).returncode == 0
        _, _, first, second, head, _ = tool(state, "status").stdout.splitlines()
        assert "nothing but n1" in first
        assert "group 1" in second and "group 1" in head
        assert "no node n3" in tool(state, "kill", "n3").stderr
    finally:
        down = tool(state, "down")
    assert (down.returncode, down.stderr) == (0, "")
    assert not state.exists()
