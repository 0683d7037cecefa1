/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meeting.hpp - the restart programs of a node agree on what their ranks share.
 *
 * Each object is made once and handed to all. The processes of a launch on a
 * node have the same parent; the first that takes the name of the meeting, an
 * address in the kernel that nobody has to clean up, is its host.
 */
#pragma once

#include "common/fd.hpp"
#include "restart/place.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ckpt::restart
{

/* A file that ranks share, as one of them knows it. */
struct SharedObject {
    std::string piece; /* of the checkpoint: ranks of one node */
    std::uint64_t inode = 0;
    std::string path;          /* absolute, or as the kernel names it */
    std::uint32_t sharers = 0; /* ranks of the piece that have it */
    std::uint32_t mode = 0;    /* if it has a name */
    std::uint64_t size = 0;    /* bytes; 0: not known to this rank */
    std::uint64_t end = 0;     /* of what is mapped of it, bytes */
};

/*
 * Comes together with all other ranks of this launch on this node. Each has to
 * call this, also one that shares nothing. Returns a descriptor, open for
 * reading and writing, for each of `objects` (none for System V memory); their
 * content is for the ranks to fill in.
 * Throws Error naming the object if ranks that shared one are on different
 * nodes, or if there is something else of its name that is in use.
 */
std::vector<Fd> meet(const Place &place,
                     const std::vector<SharedObject> &objects);

} // namespace ckpt::restart
