# SPDX-License-Identifier: BSD-3-Clause
"""consistency.py - decides from the events of a run whether a cut through it is
consistent, and whether its channel state was complete.

This module judges by the events alone, and does not depend on how checkpoints
are made. A history comes from a run that was rolled back to the cut and went on
from there (see events.py). A cut gives, for each rank, the number of its events
before the cut. After Chandy and Lamport (1985), section 2, and Mattern (1989),
section 5.

Functions with `errors` in their name return a list of error texts.
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
    """The places of messages and collectives in the logs."""

    sent: dict = field(default_factory=lambda: defaultdict(list))
    received: dict = field(default_factory=lambda: defaultdict(list))
    entered: dict = field(default_factory=dict)  # (comm, number, rank) -> place
    left: dict = field(default_factory=dict)


def traffic_of(history):
    """Returns the places of all events in each rank's log."""
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
    """Returns 'before and after the cut' for places in a log that is cut at a
    position."""
    sides = ["before" if place < position else "after" for place in places]
    return f"{' and '.join(sides)} the cut" if sides else "never"


def delivery_errors(cut, traffic):
    """Finds messages that were not sent once and received once. A complete
    history ends with no message under way. If the history was broken off,
    messages that were still under way count as errors, so these errors come
    last."""
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
    """Finds messages that the receiver did not get as sent."""
    return [
        f"damaged: {message_of(rank, event)}"
        for rank, log in enumerate(history)
        for event in log
        if event.damaged
    ]


def order_errors(history):
    """Finds messages of a channel that overtook one another: the message sent
    first must match the receive posted first."""
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
    """Returns the ranks that must enter a collective before `rank` leaves
    it."""
    if event.peer == EVERYBODY:
        return members_of(event.comm, ranks)
    return {event.peer, rank}


def _causes(history, traffic, rank, event):
    """Returns the events of other ranks that directly precede `event`, as
    (rank, place)."""
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
    """Finds clocks that do not follow from the events, the first in each log.
    If the clocks are wrong, conclusions from them are worthless."""
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
    """Finds events before the cut with a cause after the cut, by messages, by
    collectives and by the clocks."""
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
    """Finds collectives that a member has not entered, or not left."""
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
    """Lists all errors of a cut, and of the run after it."""
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
    """Returns the collectives that some members entered before the cut."""
    return {
        key[:2] for key, place in traffic.entered.items() if place < cut[key[2]]
    }


def _ended(traffic, cut, ranks):
    """Returns the collectives that all members left before the cut."""
    left = Counter(
        key[:2] for key, place in traffic.left.items() if place < cut[key[2]]
    )
    return {key for key in left if left[key] == len(members_of(key[0], ranks))}


def crossing(history, cut):
    """Counts the messages and the collectives that are under way at a right
    cut."""
    traffic = traffic_of(history)
    messages = sum(
        sent[0] < cut[message.sender]
        and traffic.received[message][0] >= cut[message.receiver]
        for message, sent in traffic.sent.items()
    )
    collectives = _began(traffic, cut) - _ended(traffic, cut, len(history))
    return messages, len(collectives)
