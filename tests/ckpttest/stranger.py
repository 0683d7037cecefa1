# SPDX-License-Identifier: BSD-3-Clause
"""stranger.py - a process on the network of a job that does not belong to the job.

    stranger.py HOST PORT FILE NUMBER

Sends the agent there garbage, truncated and forged frames, and the recorded bytes of one of the
agent's own callers, from FILE. The agent must end each connection after sending no more than the
challenge. Then it holds NUMBER silent connections, prints "silent", and waits for the end of its
standard input."""

import os
import socket
import struct
import sys
from pathlib import Path

HEADER = struct.Struct("<IHHIIQ16s")  # docs/protocol.md, section 9
MAGIC, VERSION, CALL = 0x464B4343, 2, 2
CHALLENGE_SIZE = HEADER.size + 64


def frame(payload, tag, length=None):
    """Returns a call as it is sent on the wire."""
    length = len(payload) if length is None else length
    return HEADER.pack(MAGIC, VERSION, CALL, length, 0, 0, tag) + payload


def is_refused(address, text):
    """Whether the text makes the agent end the connection, after no more than the challenge."""
    with socket.create_connection(address, timeout=10) as connection:
        connection.sendall(text)
        connection.shutdown(socket.SHUT_WR)
        heard = b""
        try:
            while more := connection.recv(4096):
                heard += more
        except ConnectionResetError:
            pass
    return len(heard) <= CHALLENGE_SIZE


def main():
    """Exits with 1 if the agent answered anything."""
    address = (sys.argv[1], int(sys.argv[2]))
    call = b'{"purpose": "agent"}'
    texts = {
        "garbage": os.urandom(1000),
        "another protocol": b"GET / HTTP/1.1\r\n\r\n",
        "cut off": frame(call, os.urandom(16))[:50],
        "too long": frame(b"", bytes(16), 1 << 30),
        "forged": frame(call, os.urandom(16)),
        "recorded": Path(sys.argv[3]).read_bytes(),
    }
    for name, text in texts.items():
        if not is_refused(address, text):
            sys.exit(f"{name}: it was answered")
    silent = [
        socket.create_connection(address, timeout=10)
        for _ in range(int(sys.argv[4]))
    ]
    print("silent", flush=True)
    sys.stdin.read()
    for connection in silent:
        connection.close()


main()
