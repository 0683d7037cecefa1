# SPDX-License-Identifier: BSD-3-Clause
"""stand_in_agent.py - a small agent in place of `ckptd`: it stops ranks, orders them to change
worlds, and lets them run on; or it makes them shells. It writes no image.

Ranks start it as they start `ckptd`, if CKPT_LIBDIR has it under that name (install()). A test
gives orders through the socket that CKPT_STAND_IN names (change_worlds(), become_shells(),
end_shells()): docs/protocol.md, section 3, has the messages.
"""

import array
import ctypes
import json
import mmap
import os
import select
import socket
import struct
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

VERSION = 15
MAGIC = 0x574B4343
LAYOUT = struct.Struct("<4IQ8Q424s")
HELLO, JOIN, REPORT, STOPPED, DRAINED, READY, REFUSED, FINALIZED = 1, 2, 3, 4, 5, 6, 7, 8
WORLD_READY, SHELL = 18, 19
WELCOME, REQUEST, RUN, STOP, DRAIN, SAVE, RESUME = 32, 33, 34, 35, 36, 37, 38
CHANGE_WORLD, BECOME_SHELL, END_SHELL = 49, 50, 51
GATE, INSIDE = 2, 3
REDO = 2
SLOTS = 16384
CLOCKS, CLOCK = 48, 40
PEERS, PEER = 48 + 40 * SLOTS + 56 + 24 * 4096, 24
SECONDS = 60
TGKILL = 234
MODULE = Path(__file__)


def install(directory, libraries):
    """Makes a directory for CKPT_LIBDIR with this agent and the other programs of `libraries`."""
    directory.mkdir()
    for program in Path(libraries).iterdir():
        (directory / program.name).symlink_to(program)
    (directory / "ckptd").unlink()
    (directory / "ckptd").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" "{MODULE}" "$@"\n', encoding="utf-8"
    )
    (directory / "ckptd").chmod(0o755)
    return directory


def order(path, what, timeout=SECONDS):
    """Gives the agent an order; returns its answer."""
    with socket.socket(socket.AF_UNIX) as agent:
        agent.settimeout(timeout)
        agent.connect(str(path))
        agent.sendall(json.dumps(what).encode() + b"\n")
        with agent.makefile("r", encoding="utf-8") as answer:
            return json.loads(answer.readline())


def change_worlds(path, settings):
    """Stops all ranks, has each load a lower half with its settings (a list of texts by rank; None:
    no change), and lets them run on. Returns what they answered: `ready` and `refused`."""
    return order(path, settings)


def become_shells(path, successor=None, prepare="run", seconds=SECONDS):
    """Makes all connected ranks shells. successor: a pid, or None: the agent. prepare: what the
    ranks do before: `run`; `stop`: they stand; `save`: they are READY; `request`: they get another
    order at the same time. Returns `shells`, by rank: pid, resident bytes, and milliseconds
    from the order to the answer; `refused`; and as `agent` its pid."""
    return order(path, {"prepare": prepare, "successor": successor, "seconds": seconds})


def end_shells(path, code):
    """Ends all shells with this code."""
    return order(path, {"code": code})


@dataclass
class Rank:
    """A connected rank."""

    link: socket.socket
    number: int = -1
    count: int = 0
    process: int = 0
    thread: int = 0
    signal: int = 0
    page: object = None
    said: dict = field(default_factory=dict)  # last fields by type, since the last forget()
    heard: float = 0  # when it said so
    text: str = ""

    def send(self, kind, epoch, fields=(), text="", descriptor=None, signal=False):
        """Sends a message, and the signal after it."""
        fields = [*fields, *[0] * (8 - len(fields))]
        data = LAYOUT.pack(MAGIC, VERSION, kind, 0, epoch, *fields, text.encode())
        passed = [] if descriptor is None else [descriptor]
        control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", passed))]
        self.link.sendmsg([data], control if passed else [])
        if signal:
            ctypes.CDLL(None).syscall(TGKILL, self.process, self.thread, self.signal)

    def clocks(self):
        """The slots in use: id to (slot, entered, left, settled)."""
        used = struct.unpack_from("<I", self.page, 16)[0]
        slots = [struct.unpack_from("<5Q", self.page, CLOCKS + CLOCK * i) for i in range(used)]
        return {s[0]: (i, s[1], s[2], s[4]) for i, s in enumerate(slots) if s[0] != 0}

    def set_target(self, slot, target):
        """Lets the rank enter collectives up to this one."""
        struct.pack_into("<Q", self.page, CLOCKS + CLOCK * slot + 24, target)

    def peer(self, number):
        """Messages sent to and received from a rank."""
        return struct.unpack_from("<2Q", self.page, PEERS + PEER * number)

    def expect(self, number, messages):
        """Says how many messages that rank has sent."""
        struct.pack_into("<Q", self.page, PEERS + PEER * number + 16, messages)

    def place(self):
        """The last report: (place, flags)."""
        fields = self.said.get(STOPPED) or self.said.get(REPORT)
        return fields[0], fields[2]


class Agent:
    """The agent of one node and all ranks."""

    def __init__(self, listener, orders):
        self.listener, self.orders = listener, orders
        self.ranks = []
        self.epoch = 0

    def receive(self, rank):
        """Takes one message of a rank. Returns False if the rank has gone."""
        data, control, _, _ = rank.link.recvmsg(LAYOUT.size, socket.CMSG_SPACE(4))
        if not data:
            self.ranks.remove(rank)
            return False
        _, _, kind, _, epoch, *rest = LAYOUT.unpack(data)
        passed = [int.from_bytes(part[2][:4], "little") for part in control]
        if kind == HELLO:
            rank.number, rank.count, rank.process, rank.thread, rank.signal = rest[:5]
            size = os.fstat(passed[0]).st_size
            rank.page = mmap.mmap(passed[0], size)
            rank.send(WELCOME, 0, [0, os.getpid()], text="stand-in")
        elif kind == SHELL and rank.number < 0:  # of an agent that has died
            rank.number, rank.process = rest[:2]
        elif epoch == self.epoch and self.epoch != 0:
            rank.said[kind], rank.heard = rest[:8], time.monotonic()
            rank.text = rest[8].split(b"\0")[0].decode()
        for descriptor in passed:
            os.close(descriptor)
        return True

    def notice_ends(self):
        """Receives all that ranks have sent, so that those that have gone are known."""
        while select.select([rank.link for rank in self.ranks], [], [], 0)[0]:
            self.turn(0)

    def turn(self, seconds):
        """Receives the messages that are there."""
        links = {rank.link: rank for rank in self.ranks}
        ready, _, _ = select.select([self.listener, *links], [], [], seconds)
        for link in ready:
            if link is self.listener:
                self.ranks.append(Rank(self.listener.accept()[0]))
            else:
                self.receive(links[link])

    def to_all(self, kind, ranks=None, signal=False, fields=()):
        """Sends a message to all ranks, and forgets what they have said."""
        for rank in ranks if ranks is not None else self.ranks:
            rank.said = {}
            rank.send(kind, self.epoch, fields, signal=signal)

    def await_all(self, kinds, ranks=None, seconds=SECONDS):
        """Waits until each rank has sent a message of one of these types."""
        ranks = self.ranks if ranks is None else ranks
        end = time.monotonic() + seconds
        while not all(set(kinds) & set(rank.said) for rank in ranks):
            if time.monotonic() > end:
                said = {rank.number: rank.said for rank in ranks}
                raise RuntimeError(f"no {kinds}: {said}")
            if gone := [rank.number for rank in ranks if rank not in self.ranks]:
                raise RuntimeError(f"gone: {gone}")
            self.turn(0.1)

    def set_targets(self, choose):
        """Sets each clock's target: what `choose` makes of the clocks of the members."""
        clocks = {rank.number: rank.clocks() for rank in self.ranks}
        for rank in self.ranks:
            for key, clock in clocks[rank.number].items():
                rank.set_target(clock[0], choose([c[key] for c in clocks.values() if key in c]))

    def is_aligned(self):
        """Whether no rank is inside a collective that it or another rank must leave first. Of
        nonblocking ones, those that some member has not begun are left out of the cut."""
        clocks = [rank.clocks() for rank in self.ranks]
        for key in {key for all_of_one in clocks for key in all_of_one}:
            members = [c[key] for c in clocks if key in c]
            if max(settled for *_, settled in members) > min(c[2] for c in members):
                return False
        return all(place != INSIDE or flags & REDO for place, flags in map(Rank.place, self.ranks))

    def stop(self):
        """Stops all ranks where no collective is half done."""
        self.epoch += 1
        self.to_all(REQUEST, signal=True)
        self.await_all({REPORT, REFUSED})
        while_running = 0.02  # seconds in which the ranks run to their targets
        while True:
            self.set_targets(lambda members: max(entered for _, entered, *_ in members))
            for rank in self.ranks:
                rank.send(RUN, self.epoch)
            end = time.monotonic() + while_running
            while time.monotonic() < end:
                self.turn(0.005)
            while_running = min(2 * while_running, 1)
            self.set_targets(last_that_must_be_in)
            self.to_all(STOP, signal=True)
            self.await_all({STOPPED, REFUSED})
            if self.is_aligned() and self.is_drained_inside():
                return

    def inside(self):
        """The ranks that stand inside a collective."""
        return [rank for rank in self.ranks if rank.place()[0] == INSIDE]

    def is_drained_inside(self):
        """Whether no message is under way to a rank inside a call, which cannot receive it."""
        return all(
            rank.peer(other.number)[1] == other.peer(rank.number)[0]
            for rank in self.inside()
            for other in self.ranks
        )

    def save(self):
        """Drains the ranks and has them describe themselves. Returns the refusals."""
        inside = self.inside()
        outside = [rank for rank in self.ranks if rank not in inside]
        for rank in self.ranks:
            for other in self.ranks:
                rank.expect(other.number, other.peer(rank.number)[0])
        self.to_all(DRAIN, outside)
        self.await_all({DRAINED, REFUSED}, outside)
        if refusals := self.refusals():
            return refusals
        self.to_all(SAVE, outside)
        self.to_all(SAVE, inside, signal=True)
        self.await_all({READY, REFUSED})
        return self.refusals()

    def refusals(self):
        """What ranks have refused, by rank."""
        return {rank.number: rank.text for rank in self.ranks if REFUSED in rank.said}

    def change(self, settings):
        """Has each rank that has settings change worlds. Returns the refusals."""
        chosen = [rank for rank in self.ranks if settings[rank.number] is not None]
        for rank in chosen:
            descriptor = os.memfd_create("environment")
            os.write(descriptor, "".join(s + "\0" for s in settings[rank.number]).encode())
            rank.said = {}
            rank.send(CHANGE_WORLD, self.epoch, descriptor=descriptor)
            os.close(descriptor)
        self.await_all({WORLD_READY, REFUSED}, chosen)
        return self.refusals()

    def become_shells(self, what):
        """Has all ranks become shells. What they have been asked before is void."""
        if what["prepare"] in ("stop", "save"):
            self.stop()
        if what["prepare"] == "save":
            assert self.save() == {}
        self.epoch += 1
        ranks = list(self.ranks)
        if what["prepare"] == "request":
            self.to_all(REQUEST)
        begun = time.monotonic()
        successor = what["successor"] or os.getpid()
        self.to_all(BECOME_SHELL, ranks, signal=True, fields=[successor])
        self.await_all({SHELL, REFUSED}, ranks, what["seconds"])
        shells = {
            rank.number: [*rank.said[SHELL][1:3], 1e3 * (rank.heard - begun)]
            for rank in ranks
            if SHELL in rank.said
        }
        return {"shells": shells, "refused": self.refusals(), "agent": os.getpid()}

    def obey(self, what):
        """One order of the test."""
        if isinstance(what, list):
            return self.change_worlds(what)
        if "connected" in what:
            return {"connected": sum(rank.number >= 0 for rank in self.ranks)}
        if "code" in what:
            self.to_all(END_SHELL, list(self.ranks), fields=[what["code"]])
            return {}
        return self.become_shells(what)

    def change_worlds(self, settings):
        """Has ranks change worlds, and run on."""
        self.stop()
        refused = self.save()
        begun = time.monotonic()
        if not refused:
            refused = self.change(settings)
        took = time.monotonic() - begun
        ready = [rank.number for rank in self.ranks if WORLD_READY in rank.said]
        self.to_all(RESUME)
        return {"ready": sorted(ready), "refused": refused, "ms": took * 1e3}

    def serve(self):
        """Until all ranks have gone."""
        began = False
        while self.ranks or not began:
            links = [rank.link for rank in self.ranks]
            ready, _, _ = select.select([self.listener, self.orders, *links], [], [])
            if self.orders in ready:
                with self.orders.accept()[0] as client, client.makefile("rw") as stream:
                    what = json.loads(stream.readline())
                    self.notice_ends()
                    try:
                        answer = self.obey(what)
                    except RuntimeError as error:
                        answer = {"ready": [], "refused": {}, "error": str(error)}
                    stream.write(json.dumps(answer) + "\n")
            else:
                self.turn(0)
            began = began or bool(self.ranks)


def last_that_must_be_in(members):
    """Of one clock: the last collective that all have left, or that one cannot repeat."""
    return max(min(left for _, _, left, _ in members), *(settled for *_, settled in members))


def name_of(namespace):
    """The file name of a launch's socket: FNV-1a, 64 bits."""
    value = 0xCBF29CE484222325
    for byte in namespace.encode():
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return f"{value:016x}.sock"


def main():
    """The program `ckptd --namespace NAME`; descriptor 3 takes a byte when it listens."""
    os.setsid()  # what the launcher sends to its processes is not for the agent
    path = Path(os.environ["CKPT_RUN_DIR"]) / name_of(sys.argv[2])
    orders_path = Path(os.environ["CKPT_STAND_IN"])
    for old in (path, orders_path):
        old.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(str(path))
    listener.listen(64)
    orders = socket.socket(socket.AF_UNIX)
    orders.bind(str(orders_path))
    orders.listen(1)
    os.write(3, b"r")
    os.close(3)
    Agent(listener, orders).serve()
    path.unlink()
    orders_path.unlink()


if __name__ == "__main__":
    main()
