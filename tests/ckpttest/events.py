# SPDX-License-Identifier: BSD-3-Clause
"""events.py - the logs of the ranks of apps/events, and their histories.

A history is a list of logs, one for each rank; a log is the list of its events
in order. apps/events/log.h describes the record of an event.
"""

import struct
from pathlib import Path
from typing import NamedTuple

SENT, RECEIVED, ENTERED, LEFT = 1, 2, 3, 4
EVERYBODY = -1  # peer, of a collective in which every rank hears from all
EVEN, ODD = 3, 4  # communicators of every other rank

_HEAD = struct.Struct("=QQQIiiiII")


class Event(NamedTuple):
    """An event of a rank; all ranks are ranks of MPI_COMM_WORLD."""

    time: int  # of CLOCK_REALTIME, ns
    number: int  # of the message in its channel, or of the collective
    order: int  # receipts: the order in which their receives were posted
    kind: int
    peer: int  # the other end; of a collective, the rank that others hear from
    comm: int
    tag: int
    damaged: int
    bytes: int
    clock: tuple  # after the event, an entry for each rank


class Message(NamedTuple):
    """The identity of a message."""

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
    """Returns the message that an event of a rank is about."""
    ends = (rank, event.peer) if event.kind == SENT else (event.peer, rank)
    return Message(*ends, event.comm, event.tag, event.number)


def members_of(comm, ranks):
    """Returns the ranks that are members of a communicator."""
    return {EVEN: range(0, ranks, 2), ODD: range(1, ranks, 2)}.get(
        comm, range(ranks)
    )


def _record(ranks):
    return struct.Struct(_HEAD.format + f"{ranks}Q")


def record_size(ranks):
    """Returns the size in bytes of an event in a log."""
    return _record(ranks).size


def parse_log(data, ranks):
    """Returns the events in the bytes of a log; ignores the partial event that
    a kill may leave."""
    head = len(Event._fields) - 1
    record = _record(ranks)
    whole = data[: len(data) - len(data) % record.size]
    return [
        Event(*words[:head], words[head:])
        for words in record.iter_unpack(whole)
    ]


def count_until(moment, logs):
    """Counts the events of each log (bytes) before a moment (ns)."""
    return [
        sum(event.time < moment for event in parse_log(log, len(logs)))
        for log in logs
    ]


def unequal_until(cut, before, after):
    """Returns the ranks whose logs (bytes) differ before the cut."""
    size = record_size(len(cut))
    return [
        rank
        for rank, count in enumerate(cut)
        if before[rank][: count * size] != after[rank][: count * size]
    ]


def _path(directory, rank):
    return Path(directory) / f"events.{rank}"


def read_logs(directory, ranks):
    """Returns the bytes of all logs."""
    paths = [_path(directory, rank) for rank in range(ranks)]
    return [path.read_bytes() if path.exists() else b"" for path in paths]


def write_logs(directory, logs):
    """Puts the bytes of all logs back."""
    for rank, data in enumerate(logs):
        _path(directory, rank).write_bytes(data)
