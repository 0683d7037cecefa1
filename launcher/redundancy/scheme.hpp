/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scheme.hpp - how many lost nodes a checkpoint in node-local memory or disks survives,
 * and among how many nodes what that takes is shared.
 */
#pragma once

#include <string>

namespace ckpt::redundancy
{

/* Members of a group, at most: far below the 255 that arithmetic on bytes allows. */
inline constexpr unsigned largest_group = 64;
/* Members of a group of `parity` and `rs`, unless something else is said. */
inline constexpr unsigned usual_group = 8;

struct Scheme {
    enum class Kind {
        none,         /* the piece of a lost node is lost */
        partner,      /* each node has a copy of another one's piece */
        parity,       /* a group has one block of parity in each stripe: exclusive or */
        reed_solomon, /* it has several */
    };

    Kind kind = Kind::none;
    unsigned losses = 0; /* nodes of a group that may be lost: 0, 1, 1, any */
    unsigned group = 1;  /* wanted members of a group */

    /* "none", "partner", "parity", "parity/4", "rs2", "rs3/10": after the slash the
     * members of a group. Throws Error for anything else, and for groups that are not
     * larger than the number of losses. */
    static Scheme parse(const std::string &text);

    /* What parse() takes, as short as can be. */
    std::string text() const;

    bool operator==(const Scheme &) const = default;
};

} // namespace ckpt::redundancy
