/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connections.hpp - checks sockets and pipes between the ranks of a node: all
 * ends of each must be in ranks that are saved together. Also finds eventfd
 * counters that several ranks share, which cannot be saved.
 */
#pragma once

#include "image/model/rank_image.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace ckpt
{

class Connections
{
  public:
    /* Records a rank's open connections. The caller calls it for every rank
     * before the first distribute(). */
    void survey(const RankImage &image, int rank);

    /* Whether any connection leads from one rank to another. */
    bool any() const;

    /*
     * Completes the description of a rank that is about to be saved: how many
     * ranks hold an end of each connection, and which of them restores the data
     * that an end had received. Throws Error with descriptor and peer for a
     * socket or pipe that has its other end outside the ranks or cannot be
     * restored.
     */
    void distribute(RankImage &image, int rank) const;

  private:
    struct End {
        std::uint64_t peer = 0; /* inode of the other end */
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
    std::map<std::uint64_t, std::set<int>> counters_; /* ranks by eventfd id */
    std::set<std::int64_t> processes_;                /* process ids of the ranks */
};

} // namespace ckpt
