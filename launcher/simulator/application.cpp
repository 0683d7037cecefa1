/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * application.cpp - takes ranks from one operation to the next.
 */
#include "config.h"
#include "simulator/application.hpp"

#include "common/invariant.hpp"

#include <bit>

namespace ckpt::simulator
{

Application::Application(EventQueue &queue, const JobModel &job,
                         Program &program, Recorder *recorder)
    : queue_(queue), job_(job), program_(program), recorder_(recorder),
      ranks_(job.ranks)
{
}

void Application::start()
{
    for (Rank rank = 0; rank < job_.ranks; rank++) {
        be_busy(rank, 0);
    }
}

void Application::handle(const Event &event)
{
    switch (event.kind) {
    case wake:
        if (ranks_[event.one].generation == event.two) {
            proceed(event.one);
        }
        break;
    case arrival:
        arrive(event.one, {static_cast<Rank>(event.two), (event.two >> 32) != 0,
                           event.three});
        break;
    case collective_done:
        leave_collective();
        break;
    }
}

void Application::be_busy(Rank rank, Seconds duration)
{
    State &state = ranks_[rank];
    state.doing = Doing::busy;
    state.busy_until = queue_.now() + duration;
    queue_.schedule(state.busy_until, *this, wake, rank, ++state.generation);
}

/* Starts the rank's next operation. */
void Application::proceed(Rank rank)
{
    State &state = ranks_[rank];
    const Operation next = program_.next(rank);
    switch (next.kind) {
    case Operation::Kind::compute:
        be_busy(rank, next.duration);
        break;
    case Operation::Kind::send:
        send(rank, next.peer, next.bytes);
        break;
    case Operation::Kind::reply:
        send(rank, state.last_source, next.bytes);
        break;
    case Operation::Kind::receive:
    case Operation::Kind::receive_any:
        state.doing = Doing::receiving;
        state.awaited =
            next.kind == Operation::Kind::receive ? next.peer : anybody;
        try_receive(rank);
        break;
    case Operation::Kind::collective:
        reach_collective(rank);
        break;
    case Operation::Kind::end:
        state.doing = Doing::ended;
        break;
    }
}

void Application::send(Rank rank, Rank to, std::uint64_t bytes)
{
    CKPT_EXPECT(to < job_.ranks && rank < job_.ranks);
    State &state = ranks_[rank];
    if (state.cut) {
        rules_->before_new_send(rank, to);
    } else {
        state.sent[to]++;
    }
    messages_++;
    if (recorder_ != nullptr) {
        recorder_->sent(rank, to, bytes);
    }
    const Node here = job_.node_of(rank);
    const Node there = job_.node_of(to);
    state.link_free = std::max(state.link_free, queue_.now() + job_.handling) +
                      static_cast<double>(bytes) * job_.byte_time(here, there);
    const std::uint64_t channel = to + (std::uint64_t{state.cut} << 32);
    const double longer =
        1 + job_.latency_spread * fraction_of(job_.seed, rank, channel);
    queue_.schedule(state.link_free + longer * job_.latency(here, there), *this,
                    arrival, to, rank + (std::uint64_t{state.cut} << 32),
                    bytes);
    be_busy(rank, job_.handling);
}

void Application::arrive(Rank rank, const Envelope &envelope)
{
    State &state = ranks_[rank];
    state.inbox.push_back(envelope);
    if (!envelope.is_new) {
        state.arrived_all++;
        const std::uint64_t count = ++state.arrived[envelope.from];
        if (state.cut) {
            add_to_log(rank, envelope);
        }
        if (rules_ != nullptr) {
            rules_->old_arrived(rank, envelope.from, count);
        }
    }
    look_again(rank);
}

void Application::look_again(Rank rank)
{
    const State &state = ranks_[rank];
    if (state.doing == Doing::receiving && !state.stopped) {
        try_receive(rank);
    }
}

/* Returns the first acceptable message of the old colour. Without one, returns
 * the first message of the new colour that the rank may receive, or the end of
 * the inbox. */
std::size_t Application::find(Rank rank) const
{
    const State &state = ranks_[rank];
    for (bool is_new : {false, true}) {
        if (is_new && !state.cut) {
            break;
        }
        for (std::size_t i = state.first; i < state.inbox.size(); i++) {
            const Envelope &envelope = state.inbox[i];
            if (envelope.is_new == is_new &&
                (state.awaited == anybody || state.awaited == envelope.from) &&
                (!is_new || rules_->accepts_new(rank, envelope.from))) {
                return i;
            }
        }
    }
    return state.inbox.size();
}

void Application::try_receive(Rank rank)
{
    State &state = ranks_[rank];
    const std::size_t index = find(rank);
    if (index == state.inbox.size()) {
        return;
    }
    const Envelope envelope = state.inbox[index];
    state.last_source = envelope.from;
    take(state, index);
    if (recorder_ != nullptr) {
        recorder_->received(rank, envelope.from, envelope.is_new);
    }
    be_busy(rank, job_.handling);
}

void Application::take(State &state, std::size_t index)
{
    auto &inbox = state.inbox;
    if (index != state.first) {
        inbox.erase(inbox.begin() + static_cast<std::ptrdiff_t>(index));
    } else if (++state.first * 2 >= inbox.size()) {
        inbox.erase(inbox.begin(),
                    inbox.begin() + static_cast<std::ptrdiff_t>(state.first));
        state.first = 0;
    }
}

void Application::add_to_log(Rank rank, const Envelope &envelope)
{
    log_.messages++;
    log_.bytes += envelope.bytes;
    if (recorder_ != nullptr) {
        recorder_->logged(rank, envelope.from, envelope.bytes);
    }
}

void Application::cut(Rank rank)
{
    CKPT_EXPECT(!ranks_[rank].cut);
    State &state = ranks_[rank];
    state.cut = true;
    state.stopped = true;
    state.stop_time = queue_.now();
    state.generation++;
    state.busy_until -= queue_.now();
    if (recorder_ != nullptr) {
        recorder_->cut(rank);
    }
    for (std::size_t i = state.first; i < state.inbox.size(); i++) {
        if (!state.inbox[i].is_new) {
            add_to_log(rank, state.inbox[i]);
        }
    }
}

void Application::resume(Rank rank)
{
    CKPT_EXPECT(ranks_[rank].cut && ranks_[rank].stopped);
    State &state = ranks_[rank];
    state.stopped = false;
    state.stop_time = queue_.now() - state.stop_time;
    if (state.doing == Doing::busy) {
        be_busy(rank, state.busy_until);
    } else if (state.doing == Doing::at_gate) {
        reach_collective(rank);
    } else {
        look_again(rank);
    }
}

std::uint64_t Application::arrived(Rank rank, Rank from) const
{
    const std::uint64_t *count = ranks_[rank].arrived.get(from);
    return count != nullptr ? *count : 0;
}

std::uint64_t Application::shut_gate(Rank rank)
{
    State &state = ranks_[rank];
    state.target = state.entered;
    return state.entered;
}

void Application::set_target(Rank rank, std::uint64_t target)
{
    State &state = ranks_[rank];
    state.target = target;
    if (state.doing == Doing::at_gate && !state.stopped) {
        reach_collective(rank);
    }
}

bool Application::is_aligned(Rank rank) const
{
    const State &state = ranks_[rank];
    return state.doing != Doing::inside &&
           (state.left >= state.target || state.target == open);
}

void Application::reach_collective(Rank rank)
{
    State &state = ranks_[rank];
    if (state.entered >= state.target) {
        state.doing = Doing::at_gate;
        return;
    }
    state.doing = Doing::inside;
    state.entered++;
    CKPT_INVARIANT(state.entered == state.left + 1); /* one collective at a time */
    if (++inside_[state.entered] == job_.ranks) {
        const int steps = std::bit_width(job_.ranks - 1);
        queue_.schedule(queue_.now() +
                            steps * (job_.latency_between + job_.handling),
                        *this, collective_done);
    }
}

/* All ranks are inside the same collective, so no other collective is in
 * progress. */
void Application::leave_collective()
{
    CKPT_INVARIANT(!inside_.empty() && inside_.begin()->second == job_.ranks);
    inside_.erase(inside_.begin());
    for (Rank rank = 0; rank < job_.ranks; rank++) {
        ranks_[rank].left++;
        CKPT_INVARIANT(ranks_[rank].left <= ranks_[rank].entered);
        be_busy(rank, 0);
        if (rules_ != nullptr) {
            rules_->left_collective(rank);
        }
    }
}

} // namespace ckpt::simulator
