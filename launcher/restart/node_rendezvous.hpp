/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_rendezvous.hpp - the restart programs of a node recreate the objects that their ranks share.
 *
 * Each object is created once and passed to all. The processes of a launch on a node have
 * the same parent. The first that takes the name of the rendezvous, a socket in the user's run
 * directory, becomes the host; the others are clients.
 */
#pragma once

#include "common/fd.hpp"
#include "restart/rendezvous_socket.hpp"
#include "restart/place.hpp"

#include "ckpt/snapshot.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ckpt::restart
{

/* A file that ranks share, or a connection between them, as described by one rank. */
struct SharedObject {
    std::string piece;         /* the piece of the checkpoint, with the ranks of one node */
    std::uint64_t inode = 0;   /* connection: the smaller inode of its two ends */
    std::string path;          /* absolute, or as named by the kernel */
    std::uint32_t sharers = 0; /* number of ranks of the piece that have it */
    std::uint32_t mode = 0;    /* permissions, if it has a name */
    std::uint64_t size = 0;    /* bytes; 0: unknown to this rank */
    std::uint64_t end = 0;     /* bytes up to the end of the mapped part */
    std::uint64_t other = 0;   /* connection: inode of its other end */
    /* For a connection: the ends that this rank has; other ends have domain 0. */
    ckpt_socket ends[2] = {};
    std::uint32_t listening = 0; /* CKPT_FIRST_LISTENS ... */
    bool is_pipe = false;        /* pipe: `size` is its `value` in struct ckpt_file */

    bool is_connection() const { return other != 0; }
};

class NodeRendezvous
{
  public:
    /* Connects with all other ranks of this launch on this node. Each rank must call all
     * functions, even if it shares nothing. share() and await_all() throw Error if another rank
     * has ended since its constructor call. If it ended before that, share() throws after five
     * minutes. So call the constructor early: it waits for no other rank. */
    explicit NodeRendezvous(const Place &place);

    /*
     * Returns, for each of `objects`, a descriptor open for reading and writing (none for
     * System V memory), or the two ends of a connection. The ranks restore the content.
     * Throws Error naming the object if ranks that shared it are now on different nodes, or
     * if its name is in use by something else.
     */
    std::vector<std::vector<Fd>> share(const std::vector<SharedObject> &objects);

    /* Returns when all ranks have called it. */
    void await_all();

  private:
    void accept_clients();
    std::vector<std::vector<Fd>>
    share_as_host(const std::vector<SharedObject> &objects);
    std::vector<std::vector<Fd>>
    share_as_client(const std::vector<SharedObject> &objects);

    const Place place_;
    std::optional<RendezvousListener> listener_; /* host only, until all clients are connected */
    std::vector<RendezvousSocket> clients_;      /* host only */
    std::optional<RendezvousSocket> host_;       /* clients only */
};

} // namespace ckpt::restart
