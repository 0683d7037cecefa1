# SPDX-License-Identifier: BSD-3-Clause
"""world_server.py - a client of `ckpt-world`, the PMIx server: registers worlds of ranks on this
node (launcher/world/world_message.hpp: frames of CBOR, RFC 8949)."""

import socket
import struct
import subprocess

from .settings import INSTALL

SIZES = {24: "B", 25: ">H", 26: ">I", 27: ">Q"}  # of the number after the first byte


def _head(major, number):
    for code, form in SIZES.items():
        if number < 24:
            return bytes([major << 5 | number])
        if number < 1 << 8 * struct.calcsize(form):
            return bytes([major << 5 | code]) + struct.pack(form, number)
    raise ValueError(number)


def encode(value):
    """Returns the bytes of a value that has only what these messages have."""
    if isinstance(value, bool):
        return bytes([0xF5 if value else 0xF4])
    if isinstance(value, int):
        return _head(0, value)
    if isinstance(value, str):
        return _head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return _head(4, len(value)) + b"".join(map(encode, value))
    return _head(5, len(value)) + b"".join(encode(k) + encode(v) for k, v in value.items())


def decode(data, at=0):
    """Returns the value at a place, and the place after it."""
    major, number = data[at] >> 5, data[at] & 31
    at += 1
    if number in SIZES:
        size = struct.calcsize(SIZES[number])
        (number,) = struct.unpack_from(SIZES[number], data, at)
        at += size
    if major == 0:
        return number, at
    if major == 3:
        return data[at : at + number].decode(), at + number
    if major == 7:
        return number == 21, at
    items = []
    for _ in range(number * (2 if major == 5 else 1)):
        item, at = decode(data, at)
        items.append(item)
    return (dict(zip(items[::2], items[1::2], strict=True)) if major == 5 else items), at


class WorldServer:
    """A running `ckpt-world`."""

    def __init__(self, directory):
        self.directory = directory
        self.host = socket.gethostname()
        self.link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.link.settimeout(60)
        self.process = subprocess.Popen(
            [INSTALL / "lib/ckpt/ckpt-world", "--host", self.host, "--directory", directory],
            stdin=theirs,
        )
        theirs.close()
        self.read = self.link.makefile("rb")

    def register(self, name, count):
        """Registers a world of ranks on this node; returns their variables ("NAME=VALUE")."""
        own = self.directory / name  # its ranks remove it when they end
        own.mkdir(mode=0o700)
        body = encode(
            {
                "type": "register",
                "name": name,
                "nodes": [{"host": self.host, "ranks": list(range(count))}],
                "own node": 0,
                "pmi": False,
                "directory": str(own),
            }
        )
        self.link.sendall(struct.pack("<I", len(body)) + body)
        while True:
            (size,) = struct.unpack("<I", self.read.read(4))
            message, _ = decode(self.read.read(size))
            if message["type"] == "refused":
                raise AssertionError(message)
            if message["type"] == "registered" and message["name"] == name:
                return [one["variables"] for one in message["environments"]]

    def close(self):
        self.process.kill()
        self.process.wait()
        self.read.close()
        self.link.close()
