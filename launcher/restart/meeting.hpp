/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meeting.hpp - the restart programs of a node agree on what their ranks share.
 *
 * Each object is made once and handed to all. The processes of a launch on a
 * node have the same parent; the first that takes the name of the meeting, a
 * socket in the user's run directory, is its host.
 */
#pragma once

#include "common/fd.hpp"
#include "restart/meeting_socket.hpp"
#include "restart/place.hpp"

#include "ckpt/snapshot.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ckpt::restart
{

/* A file that ranks share, or a connection between them, as one of them knows
 * it. */
struct SharedObject {
    std::string piece; /* of the checkpoint: ranks of one node */
    std::uint64_t inode = 0; /* of a connection: the lower one */
    std::string path;          /* absolute, or as the kernel names it */
    std::uint32_t sharers = 0; /* ranks of the piece that have it */
    std::uint32_t mode = 0;    /* if it has a name */
    std::uint64_t size = 0;    /* bytes; 0: not known to this rank */
    std::uint64_t end = 0;     /* of what is mapped of it, bytes */
    std::uint64_t other = 0;   /* connection: inode of its second end */
    /* Of a connection the ends that this rank has; the domain of others is 0. */
    ckpt_socket ends[2] = {};
    std::uint32_t listening = 0; /* CKPT_FIRST_LISTENS ... */
    bool is_pipe = false;        /* size: its `value` in struct ckpt_file */

    bool is_connection() const { return other != 0; }
};

class Meeting
{
  public:
    /* Comes together with all other ranks of this launch on this node. Each has
     * to call all of this, also one that shares nothing. Functions throw Error if one of the
     * others ends before. */
    explicit Meeting(const Place &place);

    /*
     * Returns for each of `objects` a descriptor that is open for reading and
     * writing (none for System V memory), or the two ends of a connection; their
     * content is for the ranks to fill in.
     * Throws Error naming the object if ranks that shared one are on different
     * nodes, or if there is something else of its name that is in use.
     */
    std::vector<std::vector<Fd>> share(const std::vector<SharedObject> &objects);

    /* Returns when all ranks have called this. */
    void await_all();

  private:
    std::vector<std::vector<Fd>>
    share_as_host(const std::vector<SharedObject> &objects);
    std::vector<std::vector<Fd>>
    share_as_guest(const std::vector<SharedObject> &objects);

    const Place place_;
    std::vector<MeetingSocket> guests_;  /* of the host */
    std::optional<MeetingSocket> host_; /* of a guest */
};

} // namespace ckpt::restart
