/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connections.hpp - sockets and pipes that connect ranks of a node: whether all
 * ends of each are in ranks that are saved together, and who has them; and event
 * counters, which cannot be in several ranks.
 */
#pragma once

#include "image/rank_image.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace ckpt
{

class Connections
{
  public:
    /* Notes what a rank has open; for every rank before the first
     * distribute(). */
    void survey(const RankImage &image, int rank);

    /* Whether any connection leads from one rank to another. */
    bool any() const;

    /*
     * Completes the description of a rank that is about to be saved: how many
     * ranks have an end of each connection, and which of them puts back what an
     * end had received. Throws Error naming descriptor and peer for a socket or
     * pipe whose other end is in no rank, or that could not be made again.
     */
    void distribute(RankImage &image, int rank) const;

  private:
    struct End {
        std::uint64_t peer = 0; /* inode */
        std::set<int> ranks;
    };

    struct Pipe {
        std::set<int> readers;
        std::set<int> writers;

        std::set<int> ranks() const;
    };
    using PipeKey = std::pair<std::uint64_t, std::uint64_t>; /* device, inode */

    const End *find(std::uint64_t inode) const;
    std::set<int> ranks_of(const End &end) const;
    void distribute_socket(const RankImage &image, ckpt_file &file,
                           int rank) const;

    void distribute_pipe(const RankImage &image, ckpt_file &file,
                         int rank) const;
    void require_private(const RankImage &image, const ckpt_file &counter,
                         int rank) const;

    std::map<std::uint64_t, End> ends_; /* by inode */
    std::map<PipeKey, Pipe> pipes_;
    std::map<std::uint64_t, std::set<int>> counters_; /* by eventfd-id */
    std::set<std::int64_t> processes_; /* the ranks */
};

} // namespace ckpt
