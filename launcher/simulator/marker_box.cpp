/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * marker_box.cpp - markers in transit, with their counts.
 */
#include "config.h"
#include "simulator/marker_box.hpp"

#include "common/invariant.hpp"

#include <algorithm>

namespace ckpt::simulator
{

MarkerBox::MarkerBox(EventQueue &queue, const JobModel &job,
                     const Application &application, Handled handled)
    : queue_(queue), job_(job), application_(application),
      handled_(std::move(handled)), ranks_(job.ranks)
{
}

void MarkerBox::send(Seconds when, Rank from, Rank to, std::uint64_t count)
{
    queue_.schedule(when + job_.latency(job_.node_of(from), job_.node_of(to)),
                    *this, arrival, to, from, count);
}

bool MarkerBox::send_for_first_use(Rank from, Rank to, std::uint64_t count)
{
    if (ranks_[from].first_used[to]++ != 0) {
        return false;
    }
    send(queue_.now() + job_.handling, from, to, count);
    return true;
}

void MarkerBox::handle(const Event &event)
{
    if (event.kind == arrival) {
        arrive(event);
    } else {
        const auto from = static_cast<Rank>(event.two);
        learn(event.one, from, event.three);
        handled_(event.one, from);
    }
}

void MarkerBox::arrive(const Event &event)
{
    State &state = ranks_[event.one];
    state.free = std::max(state.free, queue_.now()) + job_.handling;
    queue_.schedule(state.free, *this, handling, event.one, event.two,
                    event.three);
}

void MarkerBox::learn(Rank rank, Rank from, std::uint64_t count)
{
    State &state = ranks_[rank];
    state.handled++;
    state.counts[from] = count + 1;
    if (application_.arrived(rank, from) < count) {
        incomplete_ += state.missing++ == 0 ? 1 : 0;
    }
}

void MarkerBox::old_arrived(Rank rank, Rank from, std::uint64_t count)
{
    const std::uint64_t *expected = ranks_[rank].counts.get(from);
    if (expected != nullptr && *expected == count + 1) {
        CKPT_INVARIANT(ranks_[rank].missing > 0 && incomplete_ > 0);
        incomplete_ -= --ranks_[rank].missing == 0 ? 1 : 0;
    }
}

bool MarkerBox::is_complete(Rank rank, Rank from) const
{
    const std::uint64_t *expected = ranks_[rank].counts.get(from);
    return expected != nullptr &&
           application_.arrived(rank, from) + 1 >= *expected;
}

} // namespace ckpt::simulator
