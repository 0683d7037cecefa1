/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut_choice.hpp - chooses the protocol of the next checkpoint, and whether it is staggered. The
 * user decides, or the measurements of the latest checkpoint (Plank 1993, section 3.4 and table
 * 4.3).
 */
#pragma once

#include "protocol/protocol.hpp"
#include "protocol/lanes.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace ckpt
{

class CutChoice
{
  public:
    /* Value of --protocol with which ranks take independent checkpoints in between. */
    static constexpr std::string_view independent = "independent";

    /* Return the user's choice; nothing for "auto" and "independent". Throw Error for other
     * words. */
    static std::optional<Protocol> protocol_from(std::string_view word);
    static std::optional<Stagger> stagger_from(std::string_view word);

    CutChoice(std::optional<Protocol> protocol, std::optional<Stagger> stagger)
        : protocol_(protocol), stagger_(stagger)
    {
    }

    /* By default network sweeping, which is best for all programs of table 4.3. */
    Protocol protocol() const;
    /* By default staggered if ranks synchronise loosely and have sent little across the cut. */
    Stagger stagger() const;

    /* Measurements of a checkpoint that is over. */
    struct Measured {
        Stagger stagger;
        int ranks;
        int waiting;                /* ranks that waited when the first one was cut: for a
                                       message, or at the gate of a collective */
        std::uint64_t memory;       /* bytes saved */
        std::uint64_t logged_bytes; /* of messages that crossed the cut */
    };
    void learn(const Measured &measured);

  private:
    std::optional<Protocol> protocol_;
    std::optional<Stagger> stagger_;
    bool loose_ = false;
    unsigned pause_ = 0; /* number of checkpoints to take without staggering */
    unsigned next_pause_ = 1;
};

} // namespace ckpt
