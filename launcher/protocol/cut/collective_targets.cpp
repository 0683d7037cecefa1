/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collective_targets.cpp - derives the targets from the ranks' clocks.
 */
#include "protocol/cut/collective_targets.hpp"

#include "common/invariant.hpp"

#include <algorithm>
#include <set>

namespace ckpt
{

namespace
{

bool any_synchronous(const std::vector<RankState> &ranks)
{
    return std::ranges::any_of(ranks, &RankState::synchronous);
}

/* Whether a restart can enter the collective of the slot again that the rank is inside. */
bool may_be_redone(const RankState &rank, std::size_t slot)
{
    constexpr std::uint32_t both = CKPT_INSIDE_CLOCKED | CKPT_INSIDE_REDO;

    return rank.place == CKPT_PLACE_INSIDE && rank.slot == slot && (rank.flags & both) == both;
}

} // namespace

FewestEntered fewest_entered(const Clocks &clocks)
{
    FewestEntered fewest;

    for (const RankClocks &clocks_of_rank : clocks) {
        for (const ckpt_clock &clock : clocks_of_rank) {
            auto entry = fewest.emplace(clock.id, clock.entered).first;
            entry->second = std::min(entry->second, clock.entered);
        }
    }
    return fewest;
}

void CollectiveTargets::begin(Rule rule)
{
    rule_ = rule;
    targets_.clear();
}

std::uint64_t CollectiveTargets::target(std::uint64_t id) const
{
    auto found = targets_.find(id);
    return found == targets_.end() ? 0 : found->second;
}

void CollectiveTargets::raise_to(std::uint64_t id, std::uint64_t least)
{
    CKPT_EXPECT(id != 0); /* an unused slot has no target: it would hold for every rank */
    std::uint64_t &target = targets_[id];
    target = std::max(target, least);
}

void CollectiveTargets::raise_beyond(const ckpt_clock &clock)
{
    raise_to(clock.id, clock.entered);
}

/*
 * All members must leave a collective before the cut in two cases: a rank has
 * left it for good, or a rank is inside and cannot enter it again after a
 * restart. A restart begins later nonblocking collectives again.
 *
 * No rank can enter again if ranks run on after their cuts and any rank uses synchronous sends. A
 * rank inside cannot be asked about these, and a sender may need the answer before it enters.
 */
void CollectiveTargets::raise(const std::vector<RankState> &ranks, const Clocks &clocks)
{
    CKPT_EXPECT(ranks.size() == clocks.size());
    const bool none_redone = rule_ == Rule::ranks_run_on && any_synchronous(ranks);

    for (std::size_t i = 0; i < ranks.size(); i++) {
        for (std::size_t slot = 0; slot < clocks[i].size(); slot++) {
            const ckpt_clock &clock = clocks[i][slot];
            if (clock.id != 0) {
                const bool must_leave = clock.entered > clock.left &&
                                        (none_redone || !may_be_redone(ranks[i], slot));
                raise_to(clock.id, must_leave ? clock.entered : clock.settled);
            }
        }
    }
    if (rule_ == Rule::ranks_run_on) {
        raise_for_those_about_to_leave(clocks);
    }
}

/* Raises targets for collectives that all members have entered. A rank may
 * leave such a collective at any time, also between now and the cut, when it
 * is too late to raise the target. */
void CollectiveTargets::raise_for_those_about_to_leave(const Clocks &clocks)
{
    const FewestEntered fewest = fewest_entered(clocks);

    for (const RankClocks &clocks_of_rank : clocks) {
        for (const ckpt_clock &clock : clocks_of_rank) {
            if (clock.id != 0 && clock.entered > clock.left &&
                fewest.at(clock.id) >= clock.entered) {
                raise_to(clock.id, clock.entered);
            }
        }
    }
}

bool CollectiveTargets::is_aligned(const RankState &rank, const RankClocks &clocks) const
{
    if (rank.inside_unclocked()) {
        return false;
    }
    return std::ranges::all_of(clocks, [this](const ckpt_clock &clock) {
        return clock.id == 0 || clock.left >= target(clock.id);
    });
}

bool CollectiveTargets::all_aligned(const std::vector<RankState> &ranks,
                                    const Clocks &clocks) const
{
    CKPT_EXPECT(ranks.size() == clocks.size());
    for (std::size_t i = 0; i < ranks.size(); i++) {
        if (!is_aligned(ranks[i], clocks[i])) {
            return false;
        }
    }
    return true;
}

bool CollectiveTargets::has_opened(const RankState &rank, const RankClocks &clocks) const
{
    return rank.slot < clocks.size() &&
           clocks[rank.slot].entered < target(clocks[rank.slot].id);
}

std::vector<std::uint64_t> CollectiveTargets::of(const RankClocks &clocks) const
{
    std::vector<std::uint64_t> targets;

    targets.reserve(clocks.size());
    for (const ckpt_clock &clock : clocks) {
        targets.push_back(clock.id == 0 ? 0 : target(clock.id));
    }
    return targets;
}

/* Returns the clocks at whose gates the rank, or one of its threads, waits. */
std::vector<std::uint64_t> CollectiveTargets::shut_gates(const RankState &rank,
                                                         const RankClocks &clocks) const
{
    std::vector<std::uint64_t> shut;
    auto add = [&](std::size_t slot) {
        if (slot < clocks.size() && clocks[slot].id != 0) {
            shut.push_back(clocks[slot].id);
        }
    };

    if (rank.place == CKPT_PLACE_GATE && rank.holds) {
        add(rank.slot);
    }
    for (const auto &[slot, entered] : rank.gates) {
        if (slot < clocks.size() && clocks[slot].entered == entered &&
            entered >= target(clocks[slot].id)) {
            add(slot);
        }
    }
    return shut;
}

bool CollectiveTargets::open_gates(const std::vector<RankState> &ranks, const Clocks &clocks,
                                   bool also_lagging)
{
    CKPT_EXPECT(ranks.size() == clocks.size());
    std::set<std::uint64_t> lagging;
    std::set<std::uint64_t> gated;

    for (std::size_t i = 0; i < ranks.size(); i++) {
        for (const ckpt_clock &clock : clocks[i]) {
            if (clock.id != 0 && clock.left < target(clock.id)) {
                lagging.insert(clock.id);
            }
        }
        for (std::uint64_t id : shut_gates(ranks[i], clocks[i])) {
            gated.insert(id);
        }
    }
    bool any = false;
    for (std::uint64_t id : gated) {
        if (also_lagging || !lagging.contains(id)) {
            targets_[id]++;
            any = true;
        }
    }
    return any;
}

} // namespace ckpt
