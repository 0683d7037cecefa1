/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scheme.hpp - how many lost nodes a checkpoint in node-local memory or disks survives,
 * and among how many nodes the redundancy is distributed.
 */
#pragma once

#include <string>

namespace ckpt::redundancy
{

/* Maximum number of members of a group; far below the 255 that byte arithmetic
 * allows. */
inline constexpr unsigned largest_group = 64;
/* Default number of members of a group for `parity` and `rs`. */
inline constexpr unsigned usual_group = 8;

struct Scheme {
    enum class Kind {
        none,         /* the piece of a lost node is lost */
        partner,      /* each node has a copy of another node's piece */
        parity,       /* each stripe of a group has one parity block: exclusive or */
        reed_solomon, /* each stripe has several parity blocks */
    };

    Kind kind = Kind::none;
    unsigned losses = 0; /* nodes of a group that may be lost: 0, 1, 1, any */
    unsigned group = 1;  /* wanted number of members of a group */

    /* Parses "none", "partner", "parity", "parity/4", "rs2", "rs3/10"; the number after
     * the slash is that of members of a group. Throws Error for anything else, and for
     * groups that are not larger than the number of losses. */
    static Scheme parse(const std::string &text);

    /* Returns the shortest text for parse(). */
    std::string text() const;

    bool operator==(const Scheme &) const = default;
};

} // namespace ckpt::redundancy
