/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut_choice.cpp - table 4.3 of Plank (1993), applied to measurements of the running program.
 */
#include "protocol/cut_choice.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <algorithm>
#include <map>

namespace ckpt
{

namespace
{

/* If logged messages exceed a hundredth of the saved memory, staggering does not pay. */
constexpr std::uint64_t memory_per_logged_byte = 100;
constexpr unsigned longest_pause = 64;

const std::map<std::string_view, Stagger> stagger_names{
    {"no", Stagger::no},
    {"node", Stagger::node},
    {"storage", Stagger::storage},
    {"job", Stagger::job}};

} // namespace

std::optional<Protocol> CutChoice::protocol_from(std::string_view word)
{
    auto found = protocol_names.find(word);

    if (found != protocol_names.end()) {
        return found->second;
    }
    if (word != "auto" && word != independent) {
        fail("{} is none of auto, sns, cl, ns and independent", word);
    }
    return std::nullopt;
}

std::optional<Stagger> CutChoice::stagger_from(std::string_view word)
{
    auto found = stagger_names.find(word);

    if (found != stagger_names.end()) {
        return found->second;
    }
    if (word != "auto") {
        fail("{} is none of auto, no, node, storage and job", word);
    }
    return std::nullopt;
}

Protocol CutChoice::protocol() const
{
    return protocol_.value_or(Protocol::network_sweep);
}

Stagger CutChoice::stagger() const
{
    const bool gains = loose_ && pause_ == 0;

    return stagger_.value_or(gains ? Stagger::storage : Stagger::no);
}

/*
 * Staggering itself causes messages to cross the cut: without it there are few, whatever the
 * program sends. So staggering is tried, and tried again after a pause, as programs have phases.
 */
void CutChoice::learn(const Measured &measured)
{
    CKPT_EXPECT(measured.ranks > 0 && measured.waiting <= measured.ranks);
    const bool much = measured.logged_bytes * memory_per_logged_byte > measured.memory;

    loose_ = measured.waiting * 2 < measured.ranks;
    if (measured.stagger == Stagger::no) {
        pause_ -= pause_ > 0 ? 1 : 0;
    } else if (much) {
        pause_ = next_pause_;
        next_pause_ = std::min(2 * next_pause_, longest_pause);
    } else {
        next_pause_ = 1;
    }
    CKPT_INVARIANT(next_pause_ >= 1 && next_pause_ <= longest_pause && pause_ <= longest_pause);
}

} // namespace ckpt
