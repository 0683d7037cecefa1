# SPDX-License-Identifier: BSD-3-Clause
"""network.py - links between nodes on one machine, and what can happen to them.

Each node has a network namespace; a pair of virtual Ethernet devices connects it to a
bridge. Needs root, and of the kernel no modules but those of bridges, such pairs and,
for delays, taps. What is connected to what is kept in files, so that other processes
can go on with a network: that of cluster.py that plays rsh, and tests/cluster.
"""

import json
import subprocess
import sys
from pathlib import Path

ADDRESSES = "10.213.77"  # on bridges that only the nodes are connected to
DELAYED_LINK = Path(__file__).with_name("delayed_link.py")


def ip(*words):
    """Runs ip(8); what it prints."""
    command = ["ip", *map(str, words)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


class Network:
    """Nodes by name, each with a device eth0."""

    def __init__(self, directory, mark, names):
        """mark: of these nodes only; names of devices have at most 15 characters."""
        self.names = names
        self.prefix = f"ckpt{mark}"  # of namespaces: PREFIX-NAME
        self.links = directory / "links"  # NAME: what the node is connected to
        self._devices = f"ck{mark}"

    def namespace(self, name):
        """The node's, for ip(8)."""
        return f"{self.prefix}-{name}"

    def address(self, name):
        """The node's, as /etc/hosts has it."""
        return f"{ADDRESSES}.{self.names.index(name) + 1}"

    def port(self, name):
        """The end of the node's link that is not in the node."""
        return f"{self._devices}p{self.names.index(name)}"

    def _tap(self, name):
        """Stands for the port while the link is slow: how late, in its alias."""
        return f"{self._devices}t{self.names.index(name)}"

    def _bridge(self, group):
        return f"{self._devices}b{group}"

    # ---- Making and removing ---------------------------------------------------------

    def make(self):
        """All nodes see one another."""
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
        """What is there of it; the nodes have no processes any more."""
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
        """The node's cable is pulled."""
        ip("link", "set", self.port(name), "down")
        self._note(name, f"nothing but {name}")

    def mend(self, *names):
        """The link of a node, or of all, is as it was before cut() and partition()."""
        for name in names or self.names:
            self._plug_in(name, 0)
            ip("link", "set", self.port(name), "up")
            self._note(name, "group 0")
        self._forget_neighbours()

    def partition(self, *groups):
        """The nodes of a group see one another and nobody else. Who is in none of them
        is with the first one. Those that are cut off stay so."""
        for number, group in enumerate(groups):
            for name in group:
                self._move(name, number)
        for name in self.names:
            if not any(name in group for group in groups):
                self._move(name, 0)
        self._forget_neighbours()

    def _forget_neighbours(self):
        """Who could not be found a moment ago may be there now."""
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
        """What the node sends and what it is sent comes so much later; 0: no longer."""
        port, tap = self.port(name), self._tap(name)
        bridge = _device(tap if self.delay_of(name) else port)["master"]
        if self.delay_of(name):
            ip("link", "del", tap)  # with which the program that fills it ends
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
        """What a node is connected to: those with the same text see one another."""
        return (self.links / name).read_text(encoding="utf-8").strip()

    def is_cut(self, name):
        """Whether nobody sees it."""
        return not self.connection(name).startswith("group")

    def delay_of(self, name):
        """Milliseconds, of a node's link."""
        tap = self._tap(name)
        return float(_device(tap)["ifalias"]) if _is_device(tap) else 0


def _is_device(name):
    return Path("/sys/class/net", name).exists()


def _device(name):
    """What ip(8) knows of a device."""
    (found,) = json.loads(ip("-json", "link", "show", name))
    return found
