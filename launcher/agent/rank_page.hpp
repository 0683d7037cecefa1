/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_page.hpp - a rank page (ckpt/wire.h) as the agent has it. The other side writes
 * while we read. It outlives its rank.
 */
#pragma once

#include "agent/rank_seen.hpp"
#include "common/fd.hpp"

#include "ckpt/wire.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ckpt
{

/* Message counters of a rank towards each peer. */
struct PeerCounts {
    std::vector<std::uint64_t> sent;
    std::vector<std::uint64_t> received;
};

class RankPage
{
  public:
    /* Maps the page in `file`. Throws Refused unless it is that of this rank, Error if
     * it cannot be mapped. */
    RankPage(const Fd &file, int rank, int rank_count);
    ~RankPage();
    RankPage(const RankPage &) = delete;
    RankPage &operator=(const RankPage &) = delete;

    std::vector<ckpt_clock> clocks() const;
    std::uint64_t sent(int peer) const;
    std::uint64_t received(int peer) const;
    PeerCounts counts() const;
    /* Whether code of ours blocks the checkpoint signal in the rank, and takes it later. */
    bool is_busy() const;
    /* By the thread that answers. */
    std::uint64_t signals_taken() const;
    /* Whole when LOGGED has come. */
    RankSeen seen() const;

    void set_targets(const std::vector<std::uint64_t> &targets);
    void set_expected(const std::vector<std::uint64_t> &expected);
    /* In the place of a rank that is gone: the collectives it has been through. */
    void set_clocks(const std::vector<ckpt_clock> &clocks);
    /* Whether pages of it are write-protected; it looks before it gives some back. */
    void set_protected(bool is_protected);
    /* The newest checkpoint of the job. */
    void set_committed(std::uint64_t number);

  private:
    ckpt_rank_page *page_ = nullptr;
    std::size_t size_;
    int rank_count_;
};

} // namespace ckpt
