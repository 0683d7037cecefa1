# SPDX-License-Identifier: BSD-3-Clause
"""tap.py - records the TCP traffic on a network interface. Needs root."""

import select
import socket
import struct
import threading
from collections import defaultdict

ALL_PROTOCOLS = 3  # ETH_P_ALL
SO_RCVBUFFORCE = 33
IPV4 = 0x0800
TCP = 6
SYN = 2
ROOM = 64 << 20  # bytes for unread packets


class Tap:
    """Listens to an interface until it is closed."""

    def __init__(self, interface):
        self._packets = []  # IP packets that contain TCP
        self._socket = socket.socket(
            socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS)
        )
        self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
        self._socket.bind((interface, 0))
        self._end, self._ending = socket.socketpair()
        self._thread = threading.Thread(target=self._record)
        self._thread.start()

    def _record(self):
        while True:
            ready = select.select([self._socket, self._end], [], [])[0]
            if self._end in ready:
                return
            packet = self._socket.recv(1 << 17)
            (kind,) = struct.unpack_from("!H", packet, 12)
            if kind == IPV4 and packet[14 + 9] == TCP:
                self._packets.append(packet[14:])

    def close(self):
        """Ends the recording."""
        self._ending.send(b".")
        self._thread.join()
        for one in (self._socket, self._end, self._ending):
            one.close()

    def said_to(self, port):
        """Returns the bytes that each caller has sent to a port, from the
        beginning."""
        begins, parts = {}, defaultdict(dict)
        for packet in self._packets:
            (whole,) = struct.unpack_from("!H", packet, 2)
            tcp = packet[(packet[0] & 15) * 4 : whole]
            caller, called, number = struct.unpack_from("!HHI", tcp)
            if called == port and tcp[13] & SYN:
                begins[caller] = number + 1
            elif called == port and caller in begins:
                text = tcp[(tcp[12] >> 4) * 4 :]
                parts[caller][(number - begins[caller]) % 2**32] = text
        return [self._joined(parts[caller]) for caller in begins]

    @staticmethod
    def _joined(parts):
        said = b""
        for offset, text in sorted(parts.items()):
            if offset <= len(said):  # otherwise a packet is missing
                said += text[len(said) - offset :]
        return said
