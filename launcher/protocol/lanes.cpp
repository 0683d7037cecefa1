/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lanes.cpp - the ranks that are saved one after another, and their order.
 */
#include "protocol/lanes.hpp"

#include "common/invariant.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace ckpt
{

namespace
{

/* Returns for each rank its index among the ranks with the same key, in the
 * order of `ranks`. */
template <class KeyOf>
std::vector<int> rounds(const std::vector<int> &ranks, KeyOf key_of)
{
    std::map<decltype(key_of(0)), int> so_far;
    std::vector<int> rounds(ranks.size());

    for (int rank : ranks) {
        CKPT_EXPECT(static_cast<std::size_t>(rank) < rounds.size());
        rounds[rank] = so_far[key_of(rank)]++;
    }
    return rounds;
}

std::vector<int> turns(const std::vector<RankPlace> &places)
{
    std::vector<int> order(places.size());
    auto sort_by = [&order](auto key) {
        std::stable_sort(order.begin(), order.end(),
                         [&](int a, int b) { return key(a) < key(b); });
    };

    std::iota(order.begin(), order.end(), 0);
    const std::vector<int> on_memory = rounds(order, [&](int rank) {
        return std::pair(places[rank].node, places[rank].memory);
    });
    sort_by([&](int rank) {
        return std::pair(on_memory[rank], places[rank].memory);
    });
    const std::vector<int> on_node =
        rounds(order, [&](int rank) { return places[rank].node; });
    sort_by(
        [&](int rank) { return std::pair(on_node[rank], places[rank].node); });
    return order;
}

} // namespace

Lanes lanes_of(Stagger stagger, const std::vector<RankPlace> &places)
{
    /* lane numbers, by server or by node */
    std::map<std::pair<std::string, int>, std::size_t> numbers;
    Lanes lanes;

    if (stagger == Stagger::no) {
        return lanes;
    }
    for (int rank : turns(places)) {
        const RankPlace &place = places[rank];
        std::pair<std::string, int> key;
        if (stagger == Stagger::storage && !place.server.empty()) {
            key = {place.server, 0};
        } else if (stagger != Stagger::job) {
            key = {{}, place.node};
        }
        auto [entry, is_new] = numbers.try_emplace(key, lanes.size());
        if (is_new) {
            lanes.emplace_back();
        }
        lanes[entry->second].push_back(rank);
    }
    return lanes;
}

} // namespace ckpt
