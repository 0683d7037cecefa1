# SPDX-License-Identifier: BSD-3-Clause
"""events.py - what the ranks of apps/events have logged, and their histories.

A history is a list of logs, one for each rank; a log is the list of its events
in order. The record of an event is described in apps/events/log.h.
"""

import struct
from pathlib import Path
from typing import NamedTuple

SENT, RECEIVED, ENTERED, LEFT = 1, 2, 3, 4
EVERYBODY = -1  # peer, of a collective in which all hear from all
EVEN, ODD = 3, 4  # communicators of every other rank

_HEAD = struct.Struct("=QQQIiiiII")


class Event(NamedTuple):
    """What a rank did; ranks are those of MPI_COMM_WORLD."""

    time: int  # of CLOCK_REALTIME, ns
    number: int  # of the message in its channel, or of the collective
    order: int  # receipts: as their receives were posted
    kind: int
    peer: int  # the other end; of a collective, whom the others hear from
    comm: int
    tag: int
    damaged: int
    bytes: int
    clock: tuple  # after the event, an entry for each rank


class Message(NamedTuple):
    """Which message it is."""

    sender: int
    receiver: int
    comm: int
    tag: int
    number: int

    def __str__(self):
        return (
            f"message {self.number} from rank {self.sender} to rank "
            f"{self.receiver} (communicator {self.comm}, tag {self.tag})"
        )


def message_of(rank, event):
    """The message that an event of a rank is about."""
    ends = (rank, event.peer) if event.kind == SENT else (event.peer, rank)
    return Message(*ends, event.comm, event.tag, event.number)


def members_of(comm, ranks):
    """The ranks that have a communicator."""
    return {EVEN: range(0, ranks, 2), ODD: range(1, ranks, 2)}.get(
        comm, range(ranks)
    )


def _record(ranks):
    return struct.Struct(_HEAD.format + f"{ranks}Q")


def record_size(ranks):
    """Bytes of an event in a log."""
    return _record(ranks).size


def parse_log(data, ranks):
    """The events in the bytes of a log; a kill may leave part of one more."""
    head = len(Event._fields) - 1
    record = _record(ranks)
    whole = data[: len(data) - len(data) % record.size]
    return [
        Event(*words[:head], words[head:])
        for words in record.iter_unpack(whole)
    ]


def count_until(moment, logs):
    """How many events each log (bytes) has from before a moment (ns)."""
    return [
        sum(event.time < moment for event in parse_log(log, len(logs)))
        for log in logs
    ]


def unequal_until(cut, before, after):
    """The ranks whose logs (bytes) are not alike up to a cut."""
    size = record_size(len(cut))
    return [
        rank
        for rank, count in enumerate(cut)
        if before[rank][: count * size] != after[rank][: count * size]
    ]


def _path(directory, rank):
    return Path(directory) / f"events.{rank}"


def read_logs(directory, ranks):
    """The bytes of all logs."""
    paths = [_path(directory, rank) for rank in range(ranks)]
    return [path.read_bytes() if path.exists() else b"" for path in paths]


def write_logs(directory, logs):
    """Puts the bytes of all logs back."""
    for rank, data in enumerate(logs):
        _path(directory, rank).write_bytes(data)
