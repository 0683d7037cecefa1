# SPDX-License-Identifier: BSD-3-Clause
"""network.py - links between nodes on one machine, and failures of these links.

Each node has a network namespace; a pair of virtual Ethernet devices connects it to a
bridge. Needs root, and the kernel modules for bridges, veth pairs and, for delays,
taps. Files record the connections, so that other processes can go on with a network:
cluster.py's substitute for rsh, and tests/cluster.
"""

import json
import subprocess
import sys
from pathlib import Path

ADDRESSES = "10.213.77"  # on bridges that only the nodes are connected to
DELAYED_LINK = Path(__file__).with_name("delayed_link.py")


def ip(*words):
    """Runs ip(8); returns its output."""
    command = ["ip", *map(str, words)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


class Network:
    """Nodes by name, each with a device eth0."""

    def __init__(self, directory, mark, names):
        """mark: distinguishes these nodes from others; device names have at most 15
        characters."""
        self.names = names
        self.prefix = f"ckpt{mark}"  # of namespaces: PREFIX-NAME
        self.links = directory / "links"  # NAME: the connection of the node
        self._devices = f"ck{mark}"

    def namespace(self, name):
        """Returns the node's network namespace, for ip(8)."""
        return f"{self.prefix}-{name}"

    def address(self, name):
        """Returns the node's address, as in /etc/hosts."""
        return f"{ADDRESSES}.{self.names.index(name) + 1}"

    def port(self, name):
        """Returns the end of the node's link outside the node."""
        return f"{self._devices}p{self.names.index(name)}"

    def _tap(self, name):
        """Returns the device that replaces the port while the link is slow; its alias
        is the delay."""
        return f"{self._devices}t{self.names.index(name)}"

    def _bridge(self, group):
        return f"{self._devices}b{group}"

    # ---- Making and removing ---------------------------------------------------------

    def make(self):
        """Makes the links; all nodes see one another."""
        self.links.mkdir()
        self._make_bridge(0)
        for name in self.names:
            node, port = self.namespace(name), self.port(name)
            ip("netns", "add", node)
            veth = ["type", "veth", "peer", "name", "eth0", "netns", node]
            ip("link", "add", port, *veth)
            address = f"{self.address(name)}/24"
            ip("-n", node, "addr", "add", address, "dev", "eth0")
            ip("-n", node, "link", "set", "eth0", "up")
            ip("-n", node, "link", "set", "lo", "up")
        self.mend()

    def remove(self):
        """Removes what exists of the network; the nodes have no processes any more."""
        for name in self.names:
            if _is_device(self._tap(name)):
                ip("link", "del", self._tap(name))
            if Path("/run/netns", self.namespace(name)).exists():
                ip("netns", "del", self.namespace(name))
        for group in range(len(self.names)):
            if _is_device(self._bridge(group)):
                ip("link", "del", self._bridge(group))

    def _make_bridge(self, group):
        ip("link", "add", self._bridge(group), "type", "bridge")
        ip("link", "set", self._bridge(group), "up")

    # ---- What happens to links -------------------------------------------------------

    def cut(self, name):
        """Disconnects the node's link."""
        ip("link", "set", self.port(name), "down")
        self._note(name, f"nothing but {name}")

    def mend(self, *names):
        """Undoes cut() and partition() for the given nodes, or for all."""
        for name in names or self.names:
            self._plug_in(name, 0)
            ip("link", "set", self.port(name), "up")
            self._note(name, "group 0")
        self._forget_neighbours()

    def partition(self, *groups):
        """Separates the groups of nodes from each other. A node in no group belongs to
        the first one. Nodes that are cut off stay so."""
        for number, group in enumerate(groups):
            for name in group:
                self._move(name, number)
        for name in self.names:
            if not any(name in group for group in groups):
                self._move(name, 0)
        self._forget_neighbours()

    def _forget_neighbours(self):
        """Forgets failed address look-ups: a node that was unreachable may be reachable
        now."""
        for name in self.names:
            ip("-n", self.namespace(name), "neigh", "flush", "dev", "eth0")

    def _move(self, name, group):
        if not _is_device(self._bridge(group)):
            self._make_bridge(group)
        self._plug_in(name, group)
        if not self.is_cut(name):
            self._note(name, f"group {group}")

    def _plug_in(self, name, group):
        end = self._tap(name) if self.delay_of(name) else self.port(name)
        ip("link", "set", end, "master", self._bridge(group))

    def delay(self, name, milliseconds):
        """Delays all traffic to and from the node; 0 ends the delay."""
        port, tap = self.port(name), self._tap(name)
        bridge = _device(tap if self.delay_of(name) else port)["master"]
        if self.delay_of(name):
            ip("link", "del", tap)  # this also ends the program that fills the tap
        if not milliseconds:
            ip("link", "set", port, "master", bridge)
            return
        ip("link", "set", port, "nomaster")
        command = [sys.executable, DELAYED_LINK, port, tap, str(milliseconds)]
        subprocess.run(command, check=True)  # it goes on in the background
        ip("link", "set", tap, "alias", milliseconds)
        ip("link", "set", tap, "master", bridge, "up")

    # ---- How they are ----------------------------------------------------------------

    def _note(self, name, connection):
        (self.links / name).write_text(connection + "\n", encoding="utf-8")

    def connection(self, name):
        """Returns the node's connection: nodes with the same text see one another."""
        return (self.links / name).read_text(encoding="utf-8").strip()

    def is_cut(self, name):
        """Whether the node is disconnected from all others."""
        return not self.connection(name).startswith("group")

    def delay_of(self, name):
        """Returns the delay of a node's link in milliseconds."""
        tap = self._tap(name)
        return float(_device(tap)["ifalias"]) if _is_device(tap) else 0


def _is_device(name):
    return Path("/sys/class/net", name).exists()


def _device(name):
    """Returns what ip(8) reports about a device."""
    (found,) = json.loads(ip("-json", "link", "show", name))
    return found
