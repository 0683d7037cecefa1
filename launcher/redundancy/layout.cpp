/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout.cpp - computes blocks of stripes by counting; groups are small, so nothing
 * is cached.
 */
#include "config.h"
#include "redundancy/layout.hpp"

#include "common/invariant.hpp"

namespace ckpt::redundancy
{

std::optional<unsigned> Layout::parity_in_stripe(unsigned member, unsigned stripe) const
{
    CKPT_EXPECT(member < members_ && stripe < stripes());
    const unsigned row = (member + members_ - stripe) % members_;

    return row < losses_ ? std::optional(row) : std::nullopt;
}

std::optional<unsigned> Layout::chunk_in_stripe(unsigned member, unsigned stripe) const
{
    if (parity_in_stripe(member, stripe)) {
        return {};
    }
    unsigned chunk = 0;
    for (unsigned before = 0; before < stripe; before++) {
        chunk += parity_in_stripe(member, before) ? 0 : 1;
    }
    return chunk;
}

unsigned Layout::parity_place(unsigned member, unsigned stripe) const
{
    unsigned place = 0;

    CKPT_EXPECT(parity_in_stripe(member, stripe));
    for (unsigned before = 0; before < stripe; before++) {
        place += parity_in_stripe(member, before) ? 1 : 0;
    }
    return place;
}

unsigned Layout::block_of(unsigned member, unsigned stripe) const
{
    if (const auto row = parity_in_stripe(member, stripe)) {
        return data() + *row;
    }
    unsigned block = 0;
    for (unsigned before = 0; before < member; before++) {
        block += parity_in_stripe(before, stripe) ? 0 : 1;
    }
    return block;
    CKPT_INVARIANT(block < data());
}

unsigned Layout::member_of(unsigned stripe, unsigned block) const
{
    unsigned member = 0;

    while (block_of(member, stripe) != block) {
        member++;
        CKPT_EXPECT(member < members_);
    }
    return member;
}

unsigned Layout::stripe_of_chunk(unsigned member, unsigned chunk) const
{
    unsigned stripe = 0;

    while (chunk_in_stripe(member, stripe) != chunk) {
        stripe++;
        CKPT_EXPECT(stripe < stripes());
    }
    return stripe;
}

unsigned Layout::stripe_of_parity(unsigned member, unsigned place) const
{
    unsigned stripe = 0;

    while (!parity_in_stripe(member, stripe) || parity_place(member, stripe) != place) {
        stripe++;
        CKPT_EXPECT(stripe < stripes());
    }
    return stripe;
}

} // namespace ckpt::redundancy
