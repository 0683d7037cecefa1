# SPDX-License-Identifier: BSD-3-Clause
"""cluster.py - nodes on one machine: each has its own network namespace, host name, /dev/shm,
scratch directory and run directory. Needs root.

A node does not depend on its processes. After all of them are killed, commands can enter the node
again, like a machine that was switched off and on.
"""

import contextlib
import copy
import itertools
import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from . import processes
from .lab import Lab
from .network import Network, ip
from .settings import TIMEOUT

HEAD = "head"  # the node without ranks

_numbers = itertools.count(1)

# enter NODE COMMAND...: runs a command on a node. Like rsh, it joins the words. On a node it
# reaches only the nodes that the node sees.
ENTER = """#!/bin/bash
node=$1; shift
if [ -n "$CLUSTER_NODE" ] && ! cmp -s {links}/"$CLUSTER_NODE" {links}/"$node"; then
    echo "enter: connect to host $node: No route to host" >&2
    exit 255
fi
export CLUSTER_NODE=$node
exec ip netns exec {prefix}-$node unshare --uts --mount bash -c '
    hostname '$node' && mount --bind {run}/shm/'$node' /dev/shm &&
    mount --bind {run}/'$node' {run}/here &&
    mount --bind {run}/scratch-'$node' {run}/scratch &&
    mount --bind {hosts} /etc/hosts &&
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


def can_delay():
    """Whether this machine lets us make links slow."""
    return os.access("/dev/net/tun", os.R_OK | os.W_OK)


SFTP_SERVER = Path("/usr/lib/openssh/sftp-server")


def can_serve_files():
    """Whether this machine lets us mount a directory by sshfs."""
    return (
        os.geteuid() == 0
        and shutil.which("sshfs") is not None
        and SFTP_SERVER.exists()
        and os.access("/dev/fuse", os.R_OK | os.W_OK)
    )


class FileServer:
    """The server of a mounted directory; it can be made to hang."""

    def __init__(self, pid):
        self._pid = pid

    def stop(self):
        """Makes every system call that needs the server wait."""
        os.kill(self._pid, signal.SIGSTOP)

    def go_on(self):
        """Makes the server answer again, also the calls that wait."""
        os.kill(self._pid, signal.SIGCONT)


@contextlib.contextmanager
def file_server(directory, mountpoint):
    """Mounts `directory` as a server's file system, for nodes that are entered from now on. The
    server is real except for the network before it. Nothing of it is cached, so each access can
    hang. Yields the server."""
    for path in (directory, mountpoint):
        path.mkdir(parents=True)
    connect = directory.with_suffix(".connect")  # gets the arguments of ssh
    number = directory.with_suffix(".pid")
    script = f"#!/bin/sh\necho $$ >{number}\nexec {SFTP_SERVER}\n"
    connect.write_text(script, encoding="utf-8")
    connect.chmod(0o755)
    uncached = "dir_cache=no,attr_timeout=0,entry_timeout=0"
    command = ["sshfs", f"files:{directory}", mountpoint, "-o", f"ssh_command={connect}"]
    subprocess.run([*command, "-o", uncached], check=True)
    server = FileServer(int(number.read_text(encoding="utf-8")))
    try:
        yield server
    finally:
        server.go_on()
        subprocess.run(["umount", "--lazy", mountpoint], check=True)


def _unused_mark():
    """Returns a part of kernel names that no other cluster uses. Leftovers or children of an
    earlier process with our process id may use the same part."""
    used = os.listdir("/run/netns") if os.path.isdir("/run/netns") else []
    while True:
        mark = f"{os.getpid()}.{next(_numbers)}"
        if not any(name.startswith(f"ckpt{mark}-") for name in used):
            return mark


class Cluster:
    """Nodes n1, n2, ... for ranks and one for commands, "head". All nodes see one another and share
    a file system."""

    def __init__(self, directory, count):
        numbered = [f"n{number}" for number in range(1, count + 1)]
        # A socket's path has at most 107 characters.
        run = tempfile.mkdtemp(prefix="ckpt-run-")
        self._set_up(directory, numbered, run, _unused_mark())
        directory.mkdir(parents=True)
        try:
            self._write_files()
            self.network.make()
        except (OSError, subprocess.CalledProcessError):
            self.close()
            raise

    @classmethod
    def opened(cls, directory):
        """Opens the cluster that another process made in `directory` and left."""
        made = cls.__new__(cls)
        facts = json.loads((directory / "facts.json").read_text(encoding="utf-8"))
        made._set_up(directory, **facts)
        return made

    def _set_up(self, directory, names, run, mark):
        self.directory = directory
        self.facts = {"names": names, "run": run, "mark": mark}
        self.names = names  # the nodes with ranks
        self.all = [*names, HEAD]
        self.run = Path(run)
        self.shm = self.run / "shm"  # NAME: the node's /dev/shm
        self.scratch = self.run / "scratch"  # the path at which a node sees its own
        self.network = Network(directory, mark, self.all)
        self.enter = directory / "enter"

    def _write_files(self):
        for place in (self.run / "here", self.scratch, self.shm):
            place.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "mode=700", "ckpt-nodes", self.shm]
        subprocess.run(mount, check=True)
        lines = ["127.0.0.1 localhost"]
        for name in self.all:
            for place in self._places(name):
                place.mkdir()
            lines.append(f"{self.network.address(name)} {name}")
        hosts = self.directory / "hosts"
        hosts.write_text("\n".join(lines) + "\n", encoding="utf-8")
        text = ENTER.format(
            links=self.network.links,
            prefix=self.network.prefix,
            run=self.run,
            hosts=hosts,
        )
        self.enter.write_text(text, encoding="utf-8")
        self.enter.chmod(0o755)
        facts = self.directory / "facts.json"
        facts.write_text(json.dumps(self.facts), encoding="utf-8")

    def _places(self, name):
        """Returns where the node's memory, run directory and disk really are."""
        return self.shm / name, self.run / name, self.scratch_of(name)

    def scratch_of(self, name):
        """Returns the real path of a node's self.scratch."""
        return self.run / f"scratch-{name}"

    def close(self):
        """Kills the remaining processes and removes everything."""
        for name in self.all:
            if Path("/run/netns", self.network.namespace(name)).exists():
                self.kill(name)
        self.network.remove()
        if self.shm.is_mount():
            subprocess.run(["umount", "--lazy", self.shm], check=True)
        shutil.rmtree(self.run)

    # ---- What runs on nodes ----------------------------------------------------------

    def command(self, name, *words):
        """Returns the command that runs `words` on a node."""
        return [self.enter, name, shlex.join(map(str, words))]

    def environment(self):
        """Returns the settings with which ckpt and Open MPI run ranks on the nodes."""
        return {
            "CKPT_RUN_DIR": self.run / "here/ckpt",
            "OMPI_MCA_plm": "rsh",
            "OMPI_MCA_plm_rsh_agent": self.enter,
            "OMPI_MCA_btl": "tcp,self,vader",
            "OMPI_MCA_btl_tcp_if_include": "eth0",
            "OMPI_MCA_oob_tcp_if_include": "eth0",
            "PRTE_MCA_plm_ssh_agent": self.enter,  # Open MPI 5.0
            "PRTE_MCA_prte_if_include": "eth0",
        }

    def processes(self, name):
        """Returns the process ids of everything that runs on a node."""
        pids = ip("netns", "pids", self.network.namespace(name))
        return [pid for pid in map(int, pids.split()) if processes.is_alive(pid)]

    def kill(self, name, only=None):
        """Sends SIGKILL to everything on a node and empties the node's memory. With `only`, kills
        just the processes of that name."""
        if only is not None:
            pids = [p for p in self.processes(name) if processes.name_of(p) == only]
            assert pids
            self._kill(pids)
            return
        while pids := self.processes(name):  # a process may have been starting another one
            self._kill(pids)
        _empty(self.shm / name)

    @staticmethod
    def _kill(pids):
        for pid in pids:
            processes.kill(pid)
        assert processes.wait_until_gone(pids, TIMEOUT)

    def lose(self, name):
        """Replaces the node by a new one of the same name."""
        self.kill(name)
        for place in self._places(name):
            _empty(place)

    def stop(self, name):
        """Stops all processes of the node until go_on(), as if the node hung."""
        while pids := [p for p in self.processes(name) if not processes.is_stopped(p)]:
            for pid in pids:
                processes.send(pid, signal.SIGSTOP)

    def go_on(self, name):
        """Continues the node's processes after stop()."""
        for pid in self.processes(name):
            processes.send(pid, signal.SIGCONT)

    # ---- Links -----------------------------------------------------------------------

    def cut(self, name):
        """Takes the node's link down until mend()."""
        self.network.cut(name)

    def mend(self, *names):
        """Undoes cut() and partition() for some nodes, or for all."""
        self.network.mend(*names)

    def partition(self, *groups):
        """Separates the groups of nodes from each other until mend(). A node in no group belongs to
        the first one."""
        self.network.partition(*groups)

    def delay(self, name, milliseconds):
        """Delays all traffic to and from the node; 0 ends the delay."""
        self.network.delay(name, milliseconds)

    # ---- Jobs ------------------------------------------------------------------------

    def lab(self, directory, slots=1, head=False, names=None, holds=True, **more):
        """Returns a lab that runs its commands on the first node, or with `head` on the node
        without ranks. Its jobs have `slots` ranks on each node (of `names`), in order. more:
        settings of ckpt for the jobs."""
        lab = ClusterLab(directory, holds=holds, **self.environment(), **more)
        lab.cluster = self
        lab.node = HEAD if head else self.names[0]
        lab.options = ["--host", ",".join(f"{name}:{slots}" for name in names or self.names)]
        for name in ("CKPT_DIR", "CKPT_RUN_DIR", *more):
            lab.options += ["-x", name]
        return lab


def _empty(directory):
    """Removes the directory's content, but not the directory: it may be mounted."""
    for path in directory.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


class ClusterLab(Lab):
    """Runs all commands on one node."""

    cluster = None
    node = ""
    options = ()

    def on(self, name):
        """Returns the same lab with its commands on another node."""
        other = copy.copy(self)
        other.node = name
        return other

    def wrap(self, command):
        return self.cluster.command(self.node, *command)

    def mpirun_command(self, program, *options):
        return super().mpirun_command(program, *self.options, *options)
