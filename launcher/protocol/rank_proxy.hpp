/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_proxy.hpp - answers the coordinator in place of a rank that has died and of which a frozen
 * copy exists. It answers like a stopped rank without messages, or refuses an order that the copy
 * cannot obey. No I/O.
 *
 * If the rank died inside a collective that is replayed, the proxy's clock counts this as not
 * entered. If another rank has left that collective, the dead rank had done its part, and the clock
 * counts it as left.
 */
#pragma once

#include "ckpt/refusals.h"
#include "ckpt/wire.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ckpt
{

class RankProxy
{
  public:
    using Answer = std::optional<ckpt_message>;

    /* snapshot: address of the copy's ckpt_snapshot; clocks: when the rank died; received:
     * number of messages of each peer that the copy has. */
    RankProxy(int rank, std::uint64_t snapshot, std::vector<ckpt_clock> clocks,
              std::vector<std::uint64_t> received);

    /* Returns the answer to an order, if there is one. */
    Answer ordered(ckpt_message_type type, std::uint64_t epoch);
    /* Returns the answer to new targets of its clocks, if there is one. */
    Answer set_targets(const std::vector<std::uint64_t> &targets);
    /* Returns a refusal, for an order that the copy cannot obey. */
    ckpt_message refusal(const std::string &why,
                         ckpt_refusal identity = CKPT_REFUSAL_NOT_REPLAYABLE) const;
    void set_expected(std::vector<std::uint64_t> expected) { expected_ = std::move(expected); }

    const std::vector<ckpt_clock> &clocks() const { return clocks_; }

  private:
    ckpt_message answer(ckpt_message_type type) const;
    ckpt_message place(ckpt_message_type type, ckpt_place place, bool holds) const;
    ckpt_message drained() const;
    ckpt_message ready() const;

    int rank_;
    std::uint64_t snapshot_;
    std::vector<ckpt_clock> clocks_;
    std::vector<std::uint64_t> entered_; /* of each clock, when the rank died */
    std::vector<std::uint64_t> received_;
    std::vector<std::uint64_t> expected_;
    std::uint64_t epoch_ = 0;
};

} // namespace ckpt
