/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout.hpp - which member of a group has which block of which stripe.
 *
 * There are as many stripes as members. In stripe s the members s, s+1, ... (mod g) have one
 * parity block each, as many as tolerated losses; each other member contributes a chunk of its
 * piece. With five members and two losses (P, Q: parity; numbers: chunks):
 *
 *               stripe 0    1    2    3    4
 *      member 0        P    0    1    2    Q
 *      member 1        Q    P    0    1    2
 *      member 2        0    Q    P    1    2
 *      member 3        0    1    Q    P    2
 *      member 4        0    1    2    Q    P
 *
 * The blocks of a stripe are numbered: first the data blocks, in the order of their members,
 * then the parity blocks.
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
    Layout(unsigned members, unsigned losses)
        : members_(members), losses_(losses) {}

    unsigned members() const { return members_; }
    unsigned losses() const { return losses_; }
    unsigned stripes() const { return members_; }
    /* Returns the number of data blocks in a stripe, which is also the number of chunks
     * of a piece. */
    unsigned data() const { return members_ - losses_; }

    /* Returns the chunk that the member contributes to the stripe; nothing if it has
     * parity there. */
    std::optional<unsigned> chunk_in_stripe(unsigned member, unsigned stripe) const;
    /* Returns the index, from 0, of the member's parity block in the stripe; nothing if
     * the member contributes a chunk. */
    std::optional<unsigned> parity_in_stripe(unsigned member, unsigned stripe) const;

    /* Convert between a member and the number of its block in the stripe. */
    unsigned block_of(unsigned member, unsigned stripe) const;
    unsigned member_of(unsigned stripe, unsigned block) const;

    /* Return the stripe to which the member's chunk belongs, or that of the n-th block
     * in the member's parity file. */
    unsigned stripe_of_chunk(unsigned member, unsigned chunk) const;
    unsigned stripe_of_parity(unsigned member, unsigned place) const;
    /* Returns the index of the stripe's block in the member's parity file. The member
     * must have parity in the stripe. */
    unsigned parity_place(unsigned member, unsigned stripe) const;

  private:
    unsigned members_, losses_;
};

} // namespace ckpt::redundancy
