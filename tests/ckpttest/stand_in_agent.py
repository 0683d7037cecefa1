# SPDX-License-Identifier: BSD-3-Clause
"""stand_in_agent.py - a small agent in place of `ckptd`: it stops ranks, orders them to change
worlds, keeps frozen copies of them and brings these to life, or makes them shells. It writes no
image.

Ranks start it as they start `ckptd`, if CKPT_LIBDIR has it under that name (install()). A test
gives orders through the socket that CKPT_STAND_IN names (change_worlds(), freeze(), thaw(),
become_shells() ...): docs/protocol.md, sections 3 and 14, has the messages.
"""

import array
import ctypes
import fcntl
import json
import mmap
import os
import select
import socket
import struct
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

VERSION = 15
MAGIC = 0x574B4343
LAYOUT = struct.Struct("<4IQ8Q424s")
HELLO, JOIN, REPORT, STOPPED, DRAINED, READY, REFUSED, FINALIZED = 1, 2, 3, 4, 5, 6, 7, 8
FROZEN, WORLD_READY, SHELL = 11, 18, 19
WELCOME, REQUEST, RUN, STOP, DRAIN, SAVE, RESUME = 32, 33, 34, 35, 36, 37, 38
FREEZE, CHANGE_WORLD, BECOME_SHELL, END_SHELL = 44, 49, 50, 51
GATE, INSIDE = 2, 3
REDO = 2
SLOTS = 16384
CLOCKS, CLOCK = 48, 40
PEERS, PEER = 48 + 40 * SLOTS + 56 + 24 * 4096, 24
SECONDS = 60
TGKILL = 234
READY_PIPE = 3
OF_COPY, OF_RANK = 3, 4  # descriptors of ckpt-restart
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


def order(path, name, timeout=SECONDS, **arguments):
    """Gives an order to the agent; returns its answer."""
    with socket.socket(socket.AF_UNIX) as agent:
        agent.settimeout(timeout)
        agent.connect(str(path))
        agent.sendall(json.dumps({"order": name, **arguments}).encode() + b"\n")
        with agent.makefile("r", encoding="utf-8") as answer:
            return json.loads(answer.readline())


def change_worlds(path, settings, timeout=SECONDS):
    """Stops all ranks, has each load a lower half with its settings (a list of texts by rank; None:
    no change), and lets them run on. Returns what they answered: `ready` and `refused`."""
    return order(path, "change_worlds", timeout, settings=settings)


def freeze(path, timeout=SECONDS):
    """Stops all ranks, has each make a frozen copy, which the agent keeps in place of an earlier
    one, and lets them run on. Returns the copies' process ids by rank, or what was `refused`."""
    return order(path, "freeze", timeout)


def thaw(path, settings, timeout=SECONDS):
    """Brings copies to life, with changes of their environments (a list of settings by rank). For
    each rank, in order, returns the exit `code` of ckpt-restart, and what it has `refused`; and the
    `ms` until HELLO of all."""
    return order(path, "thaw", timeout, settings=settings)


def forget(path, timeout=SECONDS):
    """Ends all copies, and so the agent if no rank is left."""
    return order(path, "forget", timeout)


def release(path, rank, start, end, timeout=SECONDS):
    """Has the copy of a rank release pages."""
    return order(path, "release", timeout, rank=rank, start=start, end=end)


def become_shells(path, successor=None, prepare="run", seconds=SECONDS):
    """Makes all connected ranks shells. successor: a pid, or None: the agent. prepare: what the
    ranks do before: `run`; `stop`: they stand; `save`: they are READY; `request`: they get another
    order at the same time. Returns `shells`, by rank: pid, resident bytes, and milliseconds
    from the order to the answer; `refused`; and as `agent` its pid."""
    return order(
        path, "become_shells", prepare=prepare, successor=successor, seconds=seconds
    )


def end_shells(path, code):
    """Ends all shells with this code."""
    return order(path, "end_shells", code=code)


def connected(path):
    """Returns the number of ranks and shells that are connected."""
    return order(path, "connected")["connected"]


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
        self.copies = {}  # by rank: pid, connection, address of the description
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
            if kind == FROZEN and passed:
                self.keep(rank, rest[0], passed.pop())
            rank.said[kind], rank.heard = rest[:8], time.monotonic()
            rank.text = rest[8].split(b"\0")[0].decode()
        elif kind == REFUSED and rank.number < 0:  # of ckpt-restart
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

    def become_shells(self, prepare, successor, seconds):
        """Has all ranks become shells. What they have been asked before is void."""
        if prepare in ("stop", "save"):
            self.stop()
        if prepare == "save":
            assert self.save() == {}
        self.epoch += 1
        ranks = list(self.ranks)
        if prepare == "request":
            self.to_all(REQUEST)
        begun = time.monotonic()
        successor = successor or os.getpid()
        self.to_all(BECOME_SHELL, ranks, signal=True, fields=[successor])
        self.await_all({SHELL, REFUSED}, ranks, seconds)
        shells = {
            rank.number: [*rank.said[SHELL][1:3], 1e3 * (rank.heard - begun)]
            for rank in ranks
            if SHELL in rank.said
        }
        return {"shells": shells, "refused": self.refusals(), "agent": os.getpid()}

    def end_shells(self, code):
        """Obeys this order of the test."""
        self.to_all(END_SHELL, list(self.ranks), fields=[code])
        return {}

    def connected(self):
        """Obeys this order of the test."""
        return {"connected": sum(rank.number >= 0 for rank in self.ranks)}

    def change_worlds(self, settings):
        """Obeys this order of the test."""
        self.stop()
        refused = self.save()
        begun = time.monotonic()
        if not refused:
            refused = self.change(settings)
        took = time.monotonic() - begun
        ready = [rank.number for rank in self.ranks if WORLD_READY in rank.said]
        self.to_all(RESUME)
        return {"ready": sorted(ready), "refused": refused, "ms": took * 1e3}

    def keep(self, rank, process, connection):
        """Keeps a copy, in place of an earlier one."""
        if rank.number in self.copies:
            os.close(self.copies.pop(rank.number)[1])
        self.copies[rank.number] = (process, connection, rank.said[READY][0])

    def freeze(self):
        """Obeys this order of the test."""
        self.stop()
        refused = self.save()
        if not refused:
            for rank in self.ranks:
                rank.send(FREEZE, self.epoch, [os.getpid()])
            self.await_all({FROZEN})
        self.to_all(RESUME)
        return {"copies": {n: copy[0] for n, copy in self.copies.items()}, "refused": refused}

    def forget(self):
        """Obeys this order of the test."""
        while self.copies:
            os.close(self.copies.popitem()[1][1])
        return {}

    def release(self, rank, start, end):
        """Obeys this order of the test."""
        with socket.socket(fileno=os.dup(self.copies[rank][1])) as copy:
            copy.send(struct.pack("<2Q", start, end))
        return {}

    def begin_thaw(self, number, settings):
        """Starts ckpt-restart for a copy. Its streams are those of the rank that has started this
        agent. Returns the process and the rank."""
        process, connection, snapshot = self.copies[number]
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        environment = {**os.environ, **dict(s.split("=", 1) for s in settings)}
        thawing = ["--thaw", str(process), "--snapshot", hex(snapshot), "--name", "test/1"]
        os.dup2(connection, OF_COPY)
        os.dup2(theirs.fileno(), OF_RANK)
        theirs.close()
        restart = subprocess.Popen(
            [f"{os.environ['CKPT_LIBDIR']}/ckpt-restart", *thawing],
            env=environment,
            pass_fds=(OF_COPY, OF_RANK),
        )
        keep_free()
        thawed = Rank(ours)
        self.ranks.append(thawed)
        return restart, thawed

    def thaw(self, settings):
        """Obeys this order of the test."""
        begun = time.monotonic()
        started = [self.begin_thaw(number, own) for number, own in enumerate(settings)]
        answers = []
        for number, (restart, _) in enumerate(started):
            code = restart.wait(SECONDS)
            if code == 0:
                os.close(self.copies.pop(number)[1])
            answers.append({"code": code})
        for answer, (_, thawed) in zip(answers, started, strict=True):
            while thawed.number < 0 and not thawed.text and thawed in self.ranks:
                self.turn(SECONDS)
            answer["refused"] = thawed.text
            if answer["code"] != 0 and thawed in self.ranks:
                self.ranks.remove(thawed)
        return {"ranks": answers, "ms": (time.monotonic() - begun) * 1e3}

    def obey(self, order, **arguments):
        """One order of the test."""
        obedience = {
            "become_shells": self.become_shells,
            "change_worlds": self.change_worlds,
            "connected": self.connected,
            "end_shells": self.end_shells,
            "forget": self.forget,
            "freeze": self.freeze,
            "release": self.release,
            "thaw": self.thaw,
        }
        return obedience[order](**arguments)

    def serve(self):
        """Until all ranks and copies have gone."""
        began = False
        while self.ranks or self.copies or not began:
            links = [rank.link for rank in self.ranks]
            ready, _, _ = select.select([self.listener, self.orders, *links], [], [])
            if self.orders in ready:
                with self.orders.accept()[0] as client, client.makefile("rw") as stream:
                    what = json.loads(stream.readline())
                    self.notice_ends()
                    try:
                        answer = self.obey(**what)
                    except RuntimeError as error:
                        answer = {"ready": [], "refused": {}, "error": str(error)}
                    stream.write(json.dumps(answer) + "\n")
            else:
                self.turn(0)
            began = began or bool(self.ranks)


def keep_free():
    """Keeps the numbers of the descriptors that ckpt-restart gets."""
    null = os.open(os.devnull, os.O_RDONLY)
    while null <= OF_RANK:
        null = os.dup(null)
    os.dup2(null, OF_COPY)
    os.dup2(null, OF_RANK)
    os.close(null)


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
    """The program `ckptd --namespace NAME`; descriptor READY_PIPE takes a byte when it
    listens."""
    os.setsid()  # what the launcher sends to its processes is not for the agent
    ready = fcntl.fcntl(READY_PIPE, fcntl.F_DUPFD_CLOEXEC, OF_RANK + 1)
    keep_free()
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
    os.write(ready, b"r")
    os.close(ready)
    Agent(listener, orders).serve()
    path.unlink()
    orders_path.unlink()


if __name__ == "__main__":
    main()
