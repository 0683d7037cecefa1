# SPDX-License-Identifier: BSD-3-Clause
"""The code that decides whether a cut is consistent, on histories made by hand: right
ones, and the ones that a wrong checkpoint would produce."""

import random
import struct

import pytest

from ckpttest import consistency
from ckpttest.events import (
    ENTERED,
    EVERYBODY,
    LEFT,
    RECEIVED,
    SENT,
    Event,
    count_until,
    members_of,
    parse_log,
    record_size,
    unequal_until,
)


class Story:
    """Writes a history as the ranks of apps/events would."""

    def __init__(self, ranks):
        self.logs = [[] for _ in range(ranks)]
        self.clocks = [[0] * ranks for _ in range(ranks)]
        self.order = 0

    def note(self, rank, kind, peer, number, *, clock=None, comm=0, order=0):
        own = self.clocks[rank]
        own[:] = map(max, own, clock or own)
        own[rank] += 1
        self.logs[rank].append(
            Event(0, number, order, kind, peer, comm, 0, 0, 8, tuple(own))
        )
        return tuple(own)

    def send(self, sender, receiver, number=0):
        """Logs the event; returns the message."""
        clock = self.note(sender, SENT, receiver, number)
        return sender, receiver, number, clock

    def receive(self, message, order=None):
        """Logs the event. order: of the receive's posting, if it differs from
        the order of receipt."""
        sender, receiver, number, clock = message
        self.order += 1
        order = self.order if order is None else order
        self.note(receiver, RECEIVED, sender, number, clock=clock, order=order)

    def enter(self, rank, source=EVERYBODY, comm=0):
        return self.note(rank, ENTERED, source, 0, comm=comm)

    def leave(self, rank, clocks, source=EVERYBODY, comm=0):
        joined = list(map(max, *clocks, [0] * len(self.logs)))
        self.note(rank, LEFT, source, 0, clock=joined, comm=comm)

    def cut(self):
        """Returns a cut through the events so far."""
        return [len(log) for log in self.logs]

    def errors(self, cut):
        return consistency.judge(self.logs, cut)


def test_no_events():
    assert Story(3).errors([0, 0, 0]) == []


def test_message_before_the_cut_and_after():
    story = Story(2)
    story.receive(story.send(0, 1))
    cut = story.cut()
    story.receive(story.send(1, 0))
    assert story.errors(cut) == []
    assert consistency.crossing(story.logs, cut) == (0, 0)


def test_message_across_the_cut():
    story = Story(2)
    message = story.send(0, 1)
    cut = story.cut()
    story.receive(message)
    assert story.errors(cut) == []
    assert consistency.crossing(story.logs, cut) == (1, 0)


def test_message_of_the_future():
    """A message received before the cut and sent after it, so it is sent
    twice."""
    story = Story(2)
    message = story.send(0, 1)
    story.receive(message)
    errors = story.errors([0, 1])
    assert any("rank 0 has not sent it" in error for error in errors)
    assert any("knows of 1 events of rank 0" in error for error in errors)


def test_future_by_way_of_a_third():
    """No message crosses the cut backwards, but a chain of messages does."""
    story = Story(3)
    story.receive(story.send(0, 1))
    story.receive(story.send(1, 2))
    errors = story.errors([0, 1, 1])
    assert any("rank 2 knows of 1 events of rank 0" in e for e in errors)
    assert any("rank 2 knows of 2 events of rank 1" in e for e in errors)


def test_future_that_was_never_sent():
    """After the restart the sender took another way: only the clocks show the
    error."""
    story = Story(2)
    story.note(1, RECEIVED, 0, 0, clock=(1, 0), order=1)
    errors = story.errors([0, 1])
    assert any("sent never, received before the cut" in e for e in errors)
    assert any("knows of 1 events of rank 0" in e for e in errors)


def test_lost_from_the_channel():
    story = Story(2)
    story.send(0, 1)
    (error,) = story.errors(story.cut())
    assert error.endswith("tag 0): sent before the cut, received never")


def test_lost_after_the_cut():
    story = Story(2)
    cut = story.cut()
    story.send(0, 1)
    (error,) = story.errors(cut)
    assert error.endswith("sent after the cut, received never")


def test_received_before_and_in_the_channel_all_the_same():
    story = Story(2)
    message = story.send(0, 1)
    story.receive(message)
    cut = story.cut()
    story.receive(message)
    order, doubled = story.errors(cut)
    assert doubled.endswith(
        "sent before the cut, received before and after the cut"
    )
    assert order.endswith("was received behind 0")


def test_twice_in_the_channel():
    story = Story(2)
    message = story.send(0, 1)
    cut = story.cut()
    story.receive(message)
    story.receive(message)
    _, doubled = story.errors(cut)
    assert doubled.endswith("received after and after the cut")


def test_overtaken():
    story = Story(2)
    first, second = story.send(0, 1, 0), story.send(0, 1, 1)
    cut = story.cut()
    story.receive(second)
    story.receive(first)
    (error,) = story.errors(cut)
    assert "message 0 from rank 0" in error
    assert "was received behind 1" in error


def test_completed_in_another_order_than_posted():
    story = Story(2)
    first, second = story.send(0, 1, 0), story.send(0, 1, 1)
    cut = story.cut()
    story.receive(second, order=2)
    story.receive(first, order=1)
    assert story.errors(cut) == []


def test_channels_have_no_order_between_them():
    story = Story(3)
    first, second = story.send(0, 2), story.send(1, 2)
    story.receive(second)
    story.receive(first)
    assert story.errors([0, 0, 0]) == []


def test_damaged():
    story = Story(2)
    story.receive(story.send(0, 1))
    story.logs[1][0] = story.logs[1][0]._replace(damaged=1)
    (error,) = story.errors([0, 0])
    assert error.startswith("damaged: message 0 from rank 0 to rank 1")


def test_everybody_in_a_collective():
    story = Story(3)
    clocks = [story.enter(rank) for rank in range(3)]
    cut = story.cut()
    for rank in range(3):
        story.leave(rank, clocks)
    assert story.errors(cut) == []
    assert consistency.crossing(story.logs, cut) == (0, 1)


def test_collective_left_but_not_entered_by_all():
    story = Story(3)
    clocks = [story.enter(rank) for rank in range(3)]
    for rank in range(3):
        story.leave(rank, clocks)
    errors = story.errors([2, 1, 0])
    assert any("rank 2 has not sent it" in error for error in errors)
    assert any("rank 0 knows of 1 events of rank 2" in e for e in errors)
    assert not any("rank 1 knows" in e for e in errors)


def test_root_ahead_of_the_others():
    """The source of a collective need not wait for the other members."""
    story = Story(2)
    clock = story.enter(0, source=0)
    story.leave(0, [clock], source=0)
    cut = story.cut()
    story.enter(1, source=0)
    story.leave(1, [clock], source=0)
    assert story.errors(cut) == []


def test_root_behind_the_others():
    story = Story(2)
    clock = story.enter(0, source=0)
    story.leave(0, [clock], source=0)
    story.enter(1, source=0)
    story.leave(1, [clock], source=0)
    errors = story.errors([0, 2])
    assert any("rank 0 has not sent it" in error for error in errors)


def test_collective_that_a_member_does_not_leave():
    story = Story(3)
    clocks = [story.enter(rank, comm=3) for rank in (0, 2)]
    story.leave(0, clocks, comm=3)
    (error,) = story.errors([0, 0, 0])
    assert error == "collective 0 of communicator 3: not left by rank 2"


def test_wrong_clock():
    """A clock that went backwards, and a receipt without the sender's clock."""
    story = Story(2)
    story.receive(story.send(0, 1))
    story.logs[1][0] = story.logs[1][0]._replace(clock=(0, 1))
    (error,) = story.errors([0, 0])
    assert error == "rank 1, event 0: the clock is [0, 1] instead of [1, 1]"


def test_events_that_were_not_put_back():
    """A log that the restart has not truncated."""
    story = Story(2)
    story.send(0, 1)
    story.logs[0] *= 2
    errors = story.errors([1, 0])
    assert any("rank 0, event 1: the clock" in error for error in errors)
    assert any("sent before and after" in error for error in errors)


def is_closed(logs, cut):
    """The definition of a consistent cut, as an independent check."""
    past = {
        (rank, place) for rank in range(len(cut)) for place in range(cut[rank])
    }
    sends = {
        (rank, event.peer, event.number): (rank, place)
        for rank, log in enumerate(logs)
        for place, event in enumerate(log)
        if event.kind == SENT
    }
    return all(
        sends[logs[rank][place].peer, rank, logs[rank][place].number] in past
        for rank, place in past
        if logs[rank][place].kind == RECEIVED
    )


@pytest.fixture(params=range(5))
def random_story(request):
    """Random messages, and the cuts through all ranks at the same time."""
    chance = random.Random(request.param)
    ranks = chance.randint(2, 4)
    story, cuts, channels = Story(ranks), [], {}
    numbers = dict.fromkeys(range(ranks * ranks), 0)
    for _ in range(200):
        waiting = [key for key, queue in channels.items() if queue]
        if waiting and chance.random() < 0.5:
            story.receive(channels[chance.choice(waiting)].pop(0))
        else:
            sender, receiver = chance.sample(range(ranks), 2)
            key = sender * ranks + receiver
            message = story.send(sender, receiver, numbers[key])
            numbers[key] += 1
            channels.setdefault(key, []).append(message)
        cuts.append(story.cut())
    for queue in channels.values():
        for message in queue:
            story.receive(message)
    return story, cuts


def test_moved_cuts_of_a_random_history(random_story):
    """Moves a right cut at one rank: the check finds an error exactly if the
    move makes the cut wrong."""
    story, happened = random_story
    found = {True: 0, False: 0}
    traffic = consistency.traffic_of(story.logs)
    for cut in happened:
        assert story.errors(cut) == []
        for rank in range(len(cut)):
            for step in (-3, -1, 1, 3):
                moved = list(cut)
                moved[rank] += step
                if not 0 <= moved[rank] <= len(story.logs[rank]):
                    continue
                wrong = not is_closed(story.logs, moved)
                errors = consistency.cut_errors(story.logs, moved, traffic)
                assert bool(errors) == wrong
                found[wrong] += 1
    assert min(found.values()) > 50


def test_log_as_written():
    """The layout of apps/events/log.h; the last record is incomplete."""
    event = Event(7, 6, 5, RECEIVED, -1, 2, 3, 0, 300, (8, 9))
    data = struct.pack("=3QI3i2I2Q", *event[:-1], *event.clock)
    assert record_size(2) == len(data) == 64
    assert parse_log(data * 2 + data[:63], 2) == [event, event]
    assert count_until(7, [data, data * 2]) == [0, 0]
    assert count_until(8, [data, data * 2]) == [1, 2]


def test_logs_that_differ():
    size = record_size(2)
    log, other = bytes(3 * size), bytes(2 * size) + b"x" * size
    assert unequal_until([2, 3], [log, log], [other, log]) == []
    assert unequal_until([3, 3], [log, log], [other, log[:size]]) == [0, 1]


def test_members():
    assert list(members_of(3, 5)) == [0, 2, 4]
    assert list(members_of(4, 5)) == [1, 3]
    assert list(members_of(0, 3)) == [0, 1, 2]
