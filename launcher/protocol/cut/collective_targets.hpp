/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collective_targets.hpp - how many collectives each rank has to leave on each communicator before
 * the cut (docs/protocol.md, sections 4 and 6).
 */
#pragma once

#include "protocol/cut/rank_state.hpp"

#include "ckpt/wire.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace ckpt
{

using RankClocks = std::vector<ckpt_clock>; /* by slot */
using Clocks = std::vector<RankClocks>;     /* by rank */
using FewestEntered = std::map<std::uint64_t, std::uint64_t>;

/* Returns, by clock id, the smallest number of collectives that any member has entered. */
FewestEntered fewest_entered(const Clocks &clocks);

/* The targets of one checkpoint, by clock id. They only increase: a member may have freed the
 * communicator meanwhile. */
class CollectiveTargets
{
  public:
    /* What the ranks do after the alignment. */
    enum class Rule {
        all_stop,
        ranks_run_on
    };

    /* Forgets all targets. */
    void begin(Rule rule);
    /* The ranks will stop after all. The present targets remain. */
    void let_all_stop() { rule_ = Rule::all_stop; }

    /* Raises the targets to what the ranks have left, or cannot enter again. */
    void raise(const std::vector<RankState> &ranks, const Clocks &clocks);
    /* Makes all members leave the collective that the clock's rank is inside. */
    void raise_beyond(const ckpt_clock &clock);
    /* Opens the gates at which ranks wait by one collective; `also_lagging`: also gates of
     * communicators with a member below the target. Returns whether there was one. */
    bool open_gates(const std::vector<RankState> &ranks, const Clocks &clocks,
                    bool also_lagging);

    bool is_aligned(const RankState &rank, const RankClocks &clocks) const;
    bool all_aligned(const std::vector<RankState> &ranks, const Clocks &clocks) const;
    /* Whether the gate at which the rank waits is open for this rank. */
    bool has_opened(const RankState &rank, const RankClocks &clocks) const;
    /* Returns the targets by slot. */
    std::vector<std::uint64_t> of(const RankClocks &clocks) const;

  private:
    std::uint64_t target(std::uint64_t id) const;
    void raise_to(std::uint64_t id, std::uint64_t least);
    void raise_for_those_about_to_leave(const Clocks &clocks);
    std::vector<std::uint64_t> shut_gates(const RankState &rank, const RankClocks &clocks) const;

    Rule rule_ = Rule::all_stop;
    std::map<std::uint64_t, std::uint64_t> targets_;
};

} // namespace ckpt
