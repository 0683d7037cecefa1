/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout.hpp - which member of a group has which block of which stripe.
 *
 * There are as many stripes as members. In stripe s the members s, s+1, ... (mod g) have
 * one block of parity each, as many as losses are survived; the others give a chunk of
 * their pieces each. With five members and two losses (P, Q: parity; numbers: chunks):
 *
 *               stripe 0    1    2    3    4
 *      member 0        P    0    1    2    Q
 *      member 1        Q    P    0    1    2
 *      member 2        0    Q    P    1    2
 *      member 3        0    1    Q    P    2
 *      member 4        0    1    2    Q    P
 *
 * Blocks of a stripe are numbered: first those of data, in the order of their members,
 * then those of parity.
 */
#pragma once

#include <cstdint>
#include <optional>

namespace ckpt::redundancy
{

class Layout
{
  public:
    /* members > losses >= 1 */
    Layout(unsigned members, unsigned losses) : members_(members), losses_(losses) {}

    unsigned members() const { return members_; }
    unsigned losses() const { return losses_; }
    unsigned stripes() const { return members_; }
    /* Blocks of data in a stripe; chunks of a piece. */
    unsigned data() const { return members_ - losses_; }

    /* The chunk that the member gives to the stripe; nothing if it has parity there. */
    std::optional<unsigned> chunk_in_stripe(unsigned member, unsigned stripe) const;
    /* Which block of the stripe's parity the member has, from 0; nothing if it gives a
     * chunk. */
    std::optional<unsigned> parity_in_stripe(unsigned member, unsigned stripe) const;

    /* Number of the member's block among those of the stripe, and back. */
    unsigned block_of(unsigned member, unsigned stripe) const;
    unsigned member_of(unsigned stripe, unsigned block) const;

    /* The stripe for which the member's chunk is, or the one of the n-th block in the
     * member's file of parity. */
    unsigned stripe_of_chunk(unsigned member, unsigned chunk) const;
    unsigned stripe_of_parity(unsigned member, unsigned place) const;
    /* Of a stripe in which it has parity: which block of its file that is. */
    unsigned parity_place(unsigned member, unsigned stripe) const;

  private:
    unsigned members_, losses_;
};

} // namespace ckpt::redundancy
