#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""delayed_link.py PORT TAP MILLISECONDS - a slow cable between a network device and a
tap that this program makes. Frames that come in at one end go out at the other end
later. The program goes on in the background when the tap exists, and ends when the tap
is deleted.

It replaces netem on kernels without that module. Frames carry the virtio header: large
frames stay whole, and the last receiver may compute checksums.
"""

import collections
import fcntl
import os
import select
import socket
import struct
import sys
import time

ETH_P_ALL = 3
SOL_PACKET = 263
PACKET_VNET_HDR = 15
PACKET_IGNORE_OUTGOING = 23
TUNSETIFF = 0x400454CA
TUNSETOFFLOAD = 0x400454D0
IFF_TAP, IFF_NO_PI, IFF_VNET_HDR = 2, 0x1000, 0x4000
TUN_F_CSUM, TUN_F_TSO4, TUN_F_TSO6 = 1, 2, 4
LONGEST = 10 + 14 + 65536  # bytes: of virtio, of Ethernet, of IP


def open_tap(name):
    """Makes a new tap; returns the descriptor of its frames."""
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", name.encode(), flags))
    fcntl.ioctl(tap, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6)
    return tap


def open_port(name):
    """Returns a socket for the frames that arrive at a device."""
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    for option in (PACKET_VNET_HDR, PACKET_IGNORE_OUTGOING):
        port.setsockopt(SOL_PACKET, option, 1)
    port.bind((name, ETH_P_ALL))
    port.setblocking(False)
    return port.detach()


class Direction:
    """Frames on their way from one end to the other."""

    def __init__(self, source, target, delay):
        self._source, self._target, self._delay = source, target, delay
        self._frames = collections.deque()  # (time at which it is due, frame)

    def take(self):
        """Takes a frame that has come in. Does nothing if the read fails because the
        cable is pulled."""
        try:
            frame = os.read(self._source, LONGEST)
        except OSError:
            return
        self._frames.append((time.monotonic() + self._delay, frame))

    def due(self):
        """Returns the seconds until the next frame is due, None without a frame."""
        if not self._frames:
            return None
        return max(0, self._frames[0][0] - time.monotonic())

    def give(self):
        """Passes on the frames that are due. A frame that the other end does not take
        is lost, as on any cable."""
        while self.due() == 0:
            try:
                os.write(self._target, self._frames.popleft()[1])
            except OSError:
                continue


def carry(port, tap, delay):
    """Carries frames until the tap is deleted."""
    ways = {tap: Direction(tap, port, delay), port: Direction(port, tap, delay)}
    events = select.poll()
    for end in ways:
        events.register(end, select.POLLIN)
    while True:
        waits = [way.due() for way in ways.values() if way.due() is not None]
        wait = min(waits) * 1000 if waits else None
        for end, event in events.poll(wait):
            if event & select.POLLERR and end == tap:
                return
            ways[end].take()
        for way in ways.values():
            way.give()


def main():
    """Returns when the device exists; a detached process carries the frames."""
    port, tap, milliseconds = sys.argv[1:]
    ends = open_port(port), open_tap(tap)
    if os.fork() > 0:
        return
    os.setsid()
    null = os.open("/dev/null", os.O_RDWR)
    for standard in range(3):
        os.dup2(null, standard)
    carry(*ends, float(milliseconds) / 1000)


main()
