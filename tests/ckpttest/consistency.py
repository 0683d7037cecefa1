# SPDX-License-Identifier: BSD-3-Clause
"""consistency.py - decides from the events of a run whether a cut through it is
consistent, and whether its channel state was complete.

The events say all: nothing here knows how checkpoints are made. A history is
that of a run which was put back to the cut and went on from there (see
events.py); a cut says of each rank how many of its events lie before. After
Chandy and Lamport (1985), section 2, and Mattern (1989), section 5.

Functions named errors return a list of what is wrong, in words.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from .events import (
    ENTERED,
    EVERYBODY,
    LEFT,
    RECEIVED,
    SENT,
    members_of,
    message_of,
)


@dataclass
class Traffic:
    """Where in the logs messages and collectives are."""

    sent: dict = field(default_factory=lambda: defaultdict(list))
    received: dict = field(default_factory=lambda: defaultdict(list))
    entered: dict = field(default_factory=dict)  # (comm, number, rank) -> place
    left: dict = field(default_factory=dict)


def traffic_of(history):
    """The places, in each rank's log, of all events."""
    traffic = Traffic()
    for rank, log in enumerate(history):
        for place, event in enumerate(log):
            if event.kind == SENT:
                traffic.sent[message_of(rank, event)].append(place)
            elif event.kind == RECEIVED:
                traffic.received[message_of(rank, event)].append(place)
            elif event.kind == ENTERED:
                traffic.entered[event.comm, event.number, rank] = place
            else:
                traffic.left[event.comm, event.number, rank] = place
    return traffic


def _when(places, position):
    """'before and after the cut', for places in a log cut at a position."""
    sides = ["before" if place < position else "after" for place in places]
    return f"{' and '.join(sides)} the cut" if sides else "never"


def delivery_errors(cut, traffic):
    """Messages that were not sent once and received once. The history ends when
    nothing is under way; if it was broken off, what had not come by then is
    among these, so they are behind the others."""
    errors, missing = [], []
    for message in sorted(traffic.sent.keys() | traffic.received.keys()):
        sent = traffic.sent.get(message, [])
        received = traffic.received.get(message, [])
        text = (
            f"{message}: sent {_when(sent, cut[message.sender])}, received "
            f"{_when(received, cut[message.receiver])}"
        )
        if len(sent) == 1 and not received:
            missing.append(text)
        elif (len(sent), len(received)) != (1, 1):
            errors.append(text)
    return errors + missing


def damage_errors(history):
    """Messages that were not as sent."""
    return [
        f"damaged: {message_of(rank, event)}"
        for rank, log in enumerate(history)
        for event in log
        if event.damaged
    ]


def order_errors(history):
    """Messages of a channel that have overtaken one another: what was sent
    first belongs to the receive that was posted first."""
    errors = []
    for rank, log in enumerate(history):
        newest = {}
        receipts = (event for event in log if event.kind == RECEIVED)
        for event in sorted(receipts, key=lambda event: event.order):
            message = message_of(rank, event)
            before = newest.get(message[:-1], -1)
            if event.number <= before:
                errors.append(f"{message} was received behind {before}")
            newest[message[:-1]] = event.number
    return errors


def _sources(event, rank, ranks):
    """The ranks whose entering comes before a rank leaves a collective."""
    if event.peer == EVERYBODY:
        return members_of(event.comm, ranks)
    return {event.peer, rank}


def _causes(history, traffic, rank, event):
    """The events elsewhere that come directly before one, as (rank, place)."""
    if event.kind == RECEIVED:
        message = message_of(rank, event)
        return [(message.sender, p) for p in traffic.sent.get(message, [])[:1]]
    if event.kind == LEFT:
        return [
            (source, traffic.entered[event.comm, event.number, source])
            for source in _sources(event, rank, len(history))
            if (event.comm, event.number, source) in traffic.entered
        ]
    return []


def clock_errors(history, traffic):
    """Clocks that are not what the events make them: what the clocks say is
    worth nothing if these are wrong. Of each log, the first."""
    errors = []
    for rank, log in enumerate(history):
        known = [0] * len(history)
        for place, event in enumerate(log):
            for source, cause in _causes(history, traffic, rank, event):
                known = list(map(max, known, history[source][cause].clock))
            known[rank] += 1
            if tuple(known) != event.clock:
                errors.append(
                    f"rank {rank}, event {place}: the clock is "
                    f"{list(event.clock)} instead of {known}"
                )
                break
    return errors


def _name(rank, event):
    if event.kind in (SENT, RECEIVED):
        return message_of(rank, event)
    return f"collective {event.number} of communicator {event.comm}"


def cut_errors(history, cut, traffic):
    """Events before the cut with a cause that is not: by messages and
    collectives, and as the clocks say."""
    direct = [
        f"{_name(rank, event)}: rank {rank} has received it before the cut, "
        f"rank {source} has not sent it before"
        for rank, log in enumerate(history)
        for event in log[: cut[rank]]
        for source, cause in _causes(history, traffic, rank, event)
        if cause >= cut[source]
    ]
    return direct + _cut_clock_errors(history, cut)


def _cut_clock_errors(history, cut):
    clocks = [
        log[cut[rank] - 1].clock if cut[rank] > 0 else (0,) * len(history)
        for rank, log in enumerate(history)
    ]
    return [
        f"at its cut rank {i} knows of {known} events of rank {j}, of which "
        f"only {clocks[j][j]} lie before that one's"
        for i, clock in enumerate(clocks)
        for j, known in enumerate(clock)
        if known > clocks[j][j]
    ]


def collective_errors(traffic, ranks):
    """Collectives that a member has not entered, or not left."""
    errors = []
    for comm, number in sorted({key[:2] for key in traffic.entered}):
        for rank in members_of(comm, ranks):
            name = f"collective {number} of communicator {comm}"
            if (comm, number, rank) not in traffic.entered:
                errors.append(f"{name}: not entered by rank {rank}")
            elif (comm, number, rank) not in traffic.left:
                errors.append(f"{name}: not left by rank {rank}")
    return errors


def judge(history, cut):
    """All that is wrong with a cut, and with what came after it."""
    traffic = traffic_of(history)
    return [
        *cut_errors(history, cut, traffic),
        *damage_errors(history),
        *order_errors(history),
        *clock_errors(history, traffic),
        *delivery_errors(cut, traffic),
        *collective_errors(traffic, len(history)),
    ]


def _began(traffic, cut):
    """Collectives that some have entered before the cut."""
    return {
        key[:2] for key, place in traffic.entered.items() if place < cut[key[2]]
    }


def _ended(traffic, cut, ranks):
    """Collectives that all members have left before the cut."""
    left = Counter(
        key[:2] for key, place in traffic.left.items() if place < cut[key[2]]
    )
    return {key for key in left if left[key] == len(members_of(key[0], ranks))}


def crossing(history, cut):
    """How many messages, and collectives, are under way at a right cut."""
    traffic = traffic_of(history)
    messages = sum(
        sent[0] < cut[message.sender]
        and traffic.received[message][0] >= cut[message.receiver]
        for message, sent in traffic.sent.items()
    )
    collectives = _began(traffic, cut) - _ended(traffic, cut, len(history))
    return messages, len(collectives)
