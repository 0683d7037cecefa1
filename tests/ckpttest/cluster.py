# SPDX-License-Identifier: BSD-3-Clause
"""cluster.py - nodes on one machine: each has a network namespace, a host name,
a /dev/shm and a run directory of its own. Needs root."""

import contextlib
import itertools
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import processes
from .lab import Lab

NETWORK = "10.213.77"  # on a bridge that only the nodes are connected to

_numbers = itertools.count(1)

# enter NODE COMMAND...: runs a command on a node; as rsh, it joins the words.
ENTER = """#!/bin/bash
node=$1; shift
exec ip netns exec {prefix}-$node unshare --uts --mount bash -c '
    hostname '$node' && mount -t tmpfs ckpt /dev/shm &&
    mount --bind {run}/'$node' {run}/here && mount --bind {hosts} /etc/hosts &&
    HOSTNAME='$node' exec bash -c "$0"' "$*"
"""


def is_possible():
    """Whether this machine lets us make nodes."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    name = f"ckpt-try-{os.getpid()}"
    enter = ["ip", "netns", "exec", name, "unshare", "--uts", "--mount", "true"]
    made = subprocess.run(
        ["ip", "netns", "add", name], capture_output=True, check=False
    )
    if made.returncode != 0:
        return False
    entered = subprocess.run(enter, capture_output=True, check=False)
    subprocess.run(["ip", "netns", "del", name], check=True)
    return entered.returncode == 0


SFTP_SERVER = Path("/usr/lib/openssh/sftp-server")


def can_serve_files():
    """Whether this machine lets us mount a directory by sshfs."""
    return (
        os.geteuid() == 0
        and shutil.which("sshfs") is not None
        and SFTP_SERVER.exists()
        and os.access("/dev/fuse", os.R_OK | os.W_OK)
    )


@contextlib.contextmanager
def file_server(directory, mountpoint):
    """Mounts `directory` as one that a server has, for nodes that are entered from
    now on. The server is real, but for the network before it."""
    for path in (directory, mountpoint):
        path.mkdir(parents=True)
    connect = directory.with_suffix(".connect")  # gets the arguments of ssh
    connect.write_text(f"#!/bin/sh\nexec {SFTP_SERVER}\n", encoding="utf-8")
    connect.chmod(0o755)
    command = ["sshfs", f"files:{directory}", mountpoint]
    subprocess.run([*command, "-o", f"ssh_command={connect}"], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", mountpoint], check=True)


def _ip(*words):
    subprocess.run(["ip", *map(str, words)], check=True)


class Cluster:
    """Nodes n1, n2, ... that see one another and a common file system."""

    def __init__(self, directory, count):
        self.names = [f"n{number}" for number in range(1, count + 1)]
        mark = f"{os.getpid()}.{next(_numbers)}"  # kernel names are short
        self.prefix = f"ckpt{mark}"
        self.bridge = f"cb{mark}"
        self.port = f"c{mark}"
        self.enter = directory / "enter"
        # A socket's path has at most 107 characters.
        self.run = Path(tempfile.mkdtemp(prefix="ckpt-run-"))
        self._write_files(directory)
        try:
            self._make_network()
        except subprocess.CalledProcessError:
            self.close()
            raise

    def _write_files(self, directory):
        directory.mkdir(parents=True)
        (self.run / "here").mkdir()
        hosts = directory / "hosts"
        lines = ["127.0.0.1 localhost"]
        for number, name in enumerate(self.names, 1):
            (self.run / name).mkdir()
            lines.append(f"{NETWORK}.{number} {name}")
        hosts.write_text("\n".join(lines) + "\n", encoding="utf-8")
        text = ENTER.format(prefix=self.prefix, run=self.run, hosts=hosts)
        self.enter.write_text(text, encoding="utf-8")
        self.enter.chmod(0o755)

    def _make_network(self):
        _ip("link", "add", self.bridge, "type", "bridge")
        _ip("link", "set", self.bridge, "up")
        for number, name in enumerate(self.names, 1):
            node, port = f"{self.prefix}-{name}", f"{self.port}{name}"
            _ip("netns", "add", node)
            veth = ["type", "veth", "peer", "name", "eth0", "netns", node]
            _ip("link", "add", port, *veth)
            _ip("link", "set", port, "master", self.bridge, "up")
            address = f"{NETWORK}.{number}/24"
            _ip("-n", node, "addr", "add", address, "dev", "eth0")
            _ip("-n", node, "link", "set", "eth0", "up")
            _ip("-n", node, "link", "set", "lo", "up")

    def processes(self, name):
        """Process ids of all that runs on a node."""
        done = subprocess.run(
            ["ip", "netns", "pids", f"{self.prefix}-{name}"],
            capture_output=True,
            text=True,
            check=True,
        )
        return [int(word) for word in done.stdout.split()]

    def kill(self, name, only=None):
        """SIGKILL to everything on a node, or to processes of one name."""
        pids = [
            pid
            for pid in self.processes(name)
            if only in (None, processes.name_of(pid))
        ]
        assert pids or only is None
        for pid in pids:
            processes.kill(pid)
        assert processes.wait_until_gone(pids, 10)

    def close(self):
        """Kills what is left and takes the network down."""
        for name in self.names:
            node = f"{self.prefix}-{name}"
            if Path("/run/netns", node).exists():
                self.kill(name)
                _ip("netns", "del", node)
        if Path("/sys/class/net", self.bridge).exists():
            _ip("link", "del", self.bridge)
        shutil.rmtree(self.run)

    def lab(self, directory, slots=1, names=None, **more):
        """A lab whose commands run on the first node, and whose jobs have so many
        ranks on each (of `names`), in order. more: settings of ckpt for the jobs."""
        settings = {
            "CKPT_RUN_DIR": self.run / "here/ckpt",
            "OMPI_MCA_plm": "rsh",
            "OMPI_MCA_plm_rsh_agent": self.enter,
            "OMPI_MCA_btl": "tcp,self,vader",
            "OMPI_MCA_btl_tcp_if_include": "eth0",
            "OMPI_MCA_oob_tcp_if_include": "eth0",
            **more,
        }
        lab = ClusterLab(directory, **settings)
        lab.enter = [self.enter, self.names[0]]
        hosts = ",".join(f"{name}:{slots}" for name in names or self.names)
        lab.options = ["--host", hosts]
        for name in ("CKPT_DIR", "CKPT_RUN_DIR", *more):
            lab.options += ["-x", name]
        return lab


class ClusterLab(Lab):
    """Runs all commands on one node."""

    enter = ()
    options = ()

    def wrap(self, command):
        return [*self.enter, shlex.join(str(word) for word in command)]

    def mpirun_command(self, program, *options):
        return super().mpirun_command(program, *self.options, *options)
