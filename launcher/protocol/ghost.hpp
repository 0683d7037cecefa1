/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ghost.hpp - what answers the coordinator in the place of a rank that has died, of which a
 * copy stands still: a rank that holds still and has nothing to say, or a refusal if more
 * is wanted of it. No I/O.
 *
 * A clock that the rank was inside of, of a call that is replayed, counts as not entered; or
 * as left, if another rank has left the call: then the rank had done its part.
 */
#pragma once

#include "ckpt/wire.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ckpt
{

class Ghost
{
  public:
    using Answer = std::optional<ckpt_message>;

    /* snapshot: address of the copy's ckpt_snapshot; clocks: when the rank died; received:
     * messages of each peer that the copy has. */
    Ghost(int rank, std::uint64_t snapshot, std::vector<ckpt_clock> clocks,
          std::vector<std::uint64_t> received);

    /* What comes back for an order, if anything does. */
    Answer ordered(ckpt_message_type type, std::uint64_t epoch);
    /* Likewise for the targets of its clocks. */
    Answer set_targets(const std::vector<std::uint64_t> &targets);
    /* More is wanted of the rank than its copy can give. */
    ckpt_message refusal(const std::string &why) const;
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
    std::vector<std::uint64_t> entered_; /* of each clock, when it died */
    std::vector<std::uint64_t> received_;
    std::vector<std::uint64_t> expected_;
    std::uint64_t epoch_ = 0;
};

} // namespace ckpt
