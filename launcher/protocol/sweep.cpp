/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sweep.cpp - the places of one node, dimension after dimension.
 */
#include "config.h"
#include "protocol/sweep.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <algorithm>
#include <utility>

namespace ckpt
{

SweepRanks::SweepRanks(const std::vector<std::uint32_t> &ranks_of_node)
    : first_{0}
{
    first_.reserve(ranks_of_node.size() + 1);
    for (std::uint32_t ranks : ranks_of_node) {
        first_.push_back(first_.back() + ranks);
    }
}

std::uint32_t SweepRanks::nodes() const
{
    return static_cast<std::uint32_t>(first_.size() - 1);
}

std::uint32_t SweepRanks::first(SweepTopology::Node node) const
{
    CKPT_INVARIANT(!first_.empty());
    return first_[std::min(node, nodes())];
}

Sweep::Sweep(const SweepTopology &topology, const SweepRanks &ranks,
             SweepTopology::Node node)
    : topology_(topology), ranks_(ranks), node_(node),
      cuts_missing_(ranks.first(node + 1) - ranks.first(node))
{
    CKPT_EXPECT(topology.nodes() == ranks.nodes() && node < ranks.nodes());
    for (SweepTopology::Place place : topology.places_of(node)) {
        places_.emplace_back().place = place;
    }
    CKPT_INVARIANT(!places_.empty() && places_.size() <= 2);
    if (has_cut()) { /* the node has no ranks */
        start();
    }
}

bool Sweep::has_cut() const
{
    return cuts_missing_ == 0;
}

bool Sweep::done(const Place &place) const
{
    return place.dimension == topology_.dimensions();
}

bool Sweep::complete() const
{
    return has_cut() &&
           std::all_of(places_.begin(), places_.end(),
                       [&](const Place &place) { return done(place); });
}

const RankCounts &Sweep::expected() const
{
    CKPT_EXPECT(complete()); /* a smaller number would end a rank's drain too early */
    return places_.front().held;
}

void Sweep::add(const RankCounts &sent, std::uint32_t cuts)
{
    if (cuts < 1 || cuts > cuts_missing_) {
        fail("node {}: more ranks have cut than there are", node_);
    }
    places_.front().held += sent;
    cuts_missing_ -= cuts;
    if (has_cut()) {
        start();
    }
}

void Sweep::start()
{
    CKPT_EXPECT(has_cut());
    for (Place &place : places_) {
        begin(place);
    }
    advance();
}

void Sweep::receive(SweepMessage message)
{
    check(message);
    early_.push_back(std::move(message));
    if (has_cut()) {
        advance();
    }
}

std::vector<SweepMessage> Sweep::take_messages()
{
    return std::exchange(ready_, {});
}

Sweep::Place &Sweep::at(SweepTopology::Place place)
{
    CKPT_EXPECT(place == places_.front().place || place == places_.back().place);
    return places_[place == places_.front().place ? 0 : 1];
}

Sweep::Direction Sweep::direction_of(const SweepMessage &message) const
{
    return message.from < message.to ? Direction::up : Direction::down;
}

/* Requires that the message belongs to this sweep and is the first of its
 * kind. */
void Sweep::check(const SweepMessage &message)
{
    const Direction direction = direction_of(message);
    const bool belongs =
        message.from < topology_.places() && message.to < topology_.places() &&
        message.dimension < topology_.dimensions() &&
        topology_.host(message.to) == node_ &&
        topology_.sends(message.from, message.dimension, direction) &&
        topology_.next(message.from, message.dimension, direction) ==
            message.to;
    if (!belongs) {
        fail(
            "node {}: a sweep message from place {} to {} in dimension {} does "
            "not belong here",
            node_, message.from, message.to, message.dimension);
    }
    const Place &place = at(message.to);
    const bool had_early = std::any_of(
        early_.begin(), early_.end(), [&](const SweepMessage &other) {
            return other.from == message.from && other.to == message.to &&
                   other.dimension == message.dimension;
        });
    const bool had_now =
        place.dimension == message.dimension &&
        (direction == Direction::up ? place.received_up : place.received_down);
    if (place.dimension > message.dimension || had_now || had_early) {
        fail("node {}: the sweep message from place {} to {} in dimension {} "
             "came twice",
             node_, message.from, message.to, message.dimension);
    }
    const RankCounts &counts = message.counts;
    if (part(counts, topology_.beyond(message.to, message.dimension,
                                      direction)) != counts) {
        fail("node {}: the sweep message from place {} to {} in dimension {} "
             "counts messages to ranks that are not beyond it",
             node_, message.from, message.to, message.dimension);
    }
}

/* Starts with the present dimension. A place at the end of a line waits for
 * no message in that direction. */
void Sweep::begin(Place &place)
{
    place.received_up = place.received_down = false;
    if (done(place)) {
        return;
    }
    for (Direction direction : {Direction::up, Direction::down}) {
        const Direction back =
            direction == Direction::up ? Direction::down : Direction::up;
        const unsigned dimension = place.dimension;
        const bool awaited =
            topology_.has_next(place.place, dimension, back) &&
            topology_.sends(topology_.next(place.place, dimension, back),
                            dimension, direction);
        if (!awaited) {
            pass_on(place, direction);
        }
    }
}

void Sweep::take(Place &place, const SweepMessage &message)
{
    CKPT_EXPECT(message.to == place.place && message.dimension == place.dimension);
    place.held += message.counts;
    pass_on(place, direction_of(message));
}

/* All counts that come along the line in this direction have arrived: passes
 * them on. */
void Sweep::pass_on(Place &place, Direction direction)
{
    (direction == Direction::up ? place.received_up : place.received_down) =
        true;
    const unsigned dimension = place.dimension;
    if (!topology_.sends(place.place, dimension, direction)) {
        return;
    }
    const SweepTopology::Place to =
        topology_.next(place.place, dimension, direction);
    CKPT_INVARIANT(to < topology_.places());
    SweepMessage message{
        place.place, to, dimension,
        part(place.held, topology_.beyond(to, dimension, direction))};
    if (topology_.host(to) == node_) {
        early_.push_back(std::move(message));
    } else {
        ready_.push_back(std::move(message));
    }
}

/* Performs all steps for which the messages are there. */
void Sweep::advance()
{
    bool moved = true;
    while (moved) {
        moved = false;
        for (Place &place : places_) {
            moved = advance_place(place) || moved;
        }
    }
}

bool Sweep::advance_place(Place &place)
{
    if (done(place)) {
        return false;
    }
    auto message = std::find_if(early_.begin(), early_.end(),
                                [&](const SweepMessage &early) {
                                    return early.to == place.place &&
                                           early.dimension == place.dimension;
                                });
    if (message != early_.end()) {
        SweepMessage now = std::move(*message);
        early_.erase(message);
        take(place, now);
        return true;
    }
    if (!place.received_up || !place.received_down) {
        return false;
    }
    CKPT_INVARIANT(place.dimension < topology_.dimensions());
    place.held =
        part(place.held, topology_.alike(place.place, place.dimension));
    place.dimension++;
    begin(place);
    return true;
}

RankCounts Sweep::part(const RankCounts &counts,
                       SweepTopology::Range range) const
{
    return counts.slice(ranks_.first(range.begin), ranks_.first(range.end));
}

} // namespace ckpt
