/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sweep_topology.cpp - coordinates in a mesh with any sides.
 */
#include "config.h"
#include "protocol/sweep_topology.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace ckpt
{

namespace
{

using Sides = std::vector<std::uint32_t>;
constexpr std::uint64_t most_places = std::numeric_limits<std::uint32_t>::max();

std::uint64_t power(std::uint64_t base, unsigned exponent)
{
    std::uint64_t value = 1;
    for (unsigned i = 0; i < exponent; i++) {
        value = std::min(value * base, most_places + 1);
    }
    return value;
}

/* Returns the largest k with k^exponent <= value. */
std::uint32_t root(std::uint64_t value, unsigned exponent)
{
    std::uint64_t low = 1;
    std::uint64_t high = value;
    while (low < high) {
        const std::uint64_t middle = low + (high - low + 1) / 2;
        if (power(middle, exponent) <= value) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    CKPT_INVARIANT(power(low, exponent) <= value);
    return static_cast<std::uint32_t>(low);
}

/* Returns the side of the first dimension if the others have `layer` places. */
std::uint64_t layers(std::uint64_t nodes, std::uint64_t layer)
{
    return (nodes + layer - 1) / layer;
}

} // namespace

SweepTopology::SweepTopology(Node nodes, Sides sides)
    : nodes_(nodes), sides_(std::move(sides)), strides_(sides_.size())
{
    std::uint64_t places = 1;
    for (std::size_t i = sides_.size(); i-- > 0;) {
        strides_[i] = static_cast<Place>(places);
        places *= sides_[i];
        if (sides_[i] < 2 || places > most_places) {
            fail("a mesh of {} cannot be swept", fmt::join(sides_, "x"));
        }
    }
    const std::uint64_t layer = sides_.empty() ? 1 : strides_[0];
    if (nodes < 1 || layers(nodes, layer) != places / layer) {
        fail("a mesh of {} has {} places in layers of {}, which do not suit {} "
             "nodes",
             sides_.empty() ? "1" : fmt::format("{}", fmt::join(sides_, "x")),
             places, layer, nodes);
    }
    places_ = static_cast<Place>(places);
    CKPT_INVARIANT(sides_.empty() || strides_.back() == 1);
    CKPT_INVARIANT(nodes_ <= places_);
}

SweepTopology SweepTopology::hypercube(Node nodes)
{
    unsigned dimensions = 0;
    while (power(2, dimensions) < nodes) {
        dimensions++;
    }
    return {nodes, Sides(dimensions, 2)};
}

SweepTopology SweepTopology::cube(Node nodes, unsigned dimensions)
{
    if (dimensions < 1 || nodes < 1) {
        fail("a mesh of {} dimensions for {} nodes is none", dimensions, nodes);
    }
    const std::uint32_t side = root(nodes, dimensions);
    struct Choice {
        std::uint64_t longest;
        std::uint64_t places;
        Sides sides;
        auto operator<=>(const Choice &) const = default;
    };
    std::optional<Choice> best;
    for (unsigned longer = 0; longer < dimensions; longer++) {
        const std::uint64_t layer = std::min(
            power(side, dimensions - 1 - longer) * power(side + 1, longer),
            most_places + 1);
        const std::uint64_t first = layers(nodes, layer);
        if (layer > nodes) {
            break;
        }
        Sides sides{static_cast<std::uint32_t>(first)};
        sides.insert(sides.end(), longer, side + 1);
        sides.insert(sides.end(), dimensions - 1 - longer, side);
        std::erase(sides, 1U);
        const std::uint64_t longest =
            sides.empty() ? 1 : *std::max_element(sides.begin(), sides.end());
        Choice choice{longest, first * layer, std::move(sides)};
        if (!best || choice < *best) {
            best = std::move(choice);
        }
    }
    CKPT_INVARIANT(best); /* the first layer has one node at least */
    return {nodes, best->sides};
}

std::string SweepTopology::name() const
{
    if (sides_.empty()) {
        return "one node";
    }
    const bool binary =
        std::all_of(sides_.begin(), sides_.end(),
                    [](std::uint32_t side) { return side == 2; });
    return binary ? fmt::format("hypercube of {} dimensions", dimensions())
                  : fmt::format("mesh of {}", fmt::join(sides_, "x"));
}

SweepTopology::Node SweepTopology::host(Place place) const
{
    CKPT_EXPECT(place < places_ && (place < nodes_ || place - strides_[0] < nodes_));
    return place < nodes_ ? place : place - strides_[0];
}

std::vector<SweepTopology::Place> SweepTopology::places_of(Node node) const
{
    CKPT_EXPECT(node < nodes_);
    std::vector<Place> places{node};
    if (!strides_.empty()) {
        const Place above = node + strides_[0];
        if (above >= nodes_ && above < places_) {
            places.push_back(above);
        }
    }
    return places;
}

std::uint32_t SweepTopology::coordinate(Place place, unsigned dimension) const
{
    CKPT_EXPECT(place < places_ && dimension < dimensions());
    return place / strides_[dimension] % sides_[dimension];
}

bool SweepTopology::has_next(Place place, unsigned dimension,
                             Direction direction) const
{
    const std::uint32_t at = coordinate(place, dimension);
    return direction == Direction::up ? at + 1 < sides_[dimension] : at > 0;
}

SweepTopology::Place SweepTopology::next(Place place, unsigned dimension,
                                         Direction direction) const
{
    CKPT_EXPECT(has_next(place, dimension, direction));
    return direction == Direction::up ? place + strides_[dimension]
                                      : place - strides_[dimension];
}

SweepTopology::Range SweepTopology::alike(Place place, unsigned dimension) const
{
    const Place begin = place - place % strides_[dimension];
    return {begin, begin + strides_[dimension]};
}

SweepTopology::Range SweepTopology::beyond(Place to, unsigned dimension,
                                           Direction direction) const
{
    const Range layer = alike(to, dimension);
    const Place line = strides_[dimension] * sides_[dimension];
    const Place begin = to - to % line;
    return direction == Direction::up ? Range{layer.begin, begin + line}
                                      : Range{begin, layer.end};
}

bool SweepTopology::sends(Place from, unsigned dimension,
                          Direction direction) const
{
    /* the places without their own nodes are the last ones */
    return has_next(from, dimension, direction) &&
           beyond(next(from, dimension, direction), dimension, direction)
                   .begin < nodes_;
}

SweepTopology::MessageCount SweepTopology::count_messages() const
{
    MessageCount count{};
    for (unsigned dimension = 0; dimension < dimensions(); dimension++) {
        for (Place place = 0; place < places_; place++) {
            for (Direction direction : {Direction::up, Direction::down}) {
                if (!sends(place, dimension, direction)) {
                    continue;
                }
                count.between_places++;
                if (host(place) != host(next(place, dimension, direction))) {
                    count.between_nodes++;
                }
            }
        }
    }
    return count;
}

} // namespace ckpt
