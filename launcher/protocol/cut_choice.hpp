/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut_choice.hpp - which protocol the next checkpoint takes, and whether it is
 * staggered: as the user says, or from what the last one has measured (Plank 1993,
 * section 3.4 and table 4.3).
 */
#pragma once

#include "protocol/cut_protocol.hpp"
#include "protocol/lanes.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace ckpt
{

class CutChoice
{
  public:
    /* The word with which ranks take checkpoints of themselves in between. */
    static constexpr std::string_view independent = "independent";

    /* What the user says: nothing for "auto" and "independent". Throw Error for other
     * words. */
    static std::optional<Protocol> protocol_from(std::string_view word);
    static std::optional<Stagger> stagger_from(std::string_view word);

    CutChoice(std::optional<Protocol> protocol, std::optional<Stagger> stagger)
        : protocol_(protocol), stagger_(stagger)
    {
    }

    /* Network sweeping, which is best for all programs of table 4.3. */
    Protocol protocol() const;
    /* If ranks synchronise loosely and have sent little across the cut. */
    Stagger stagger() const;

    /* Of a checkpoint that is over. */
    struct Measured {
        Stagger stagger;
        int ranks;
        int waiting; /* of these, when the first was cut: for a message, or at
                        the gate of a collective */
        std::uint64_t memory;       /* bytes saved */
        std::uint64_t logged_bytes; /* of messages that crossed the cut */
    };
    void learn(const Measured &measured);

  private:
    std::optional<Protocol> protocol_;
    std::optional<Stagger> stagger_;
    bool loose_ = false;
    unsigned pause_ = 0; /* so many checkpoints are not staggered */
    unsigned next_pause_ = 1;
};

} // namespace ckpt
