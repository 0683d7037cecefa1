/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_page.hpp - a rank page (ckpt/wire.h), mapped by the agent. The rank writes while the agent
 * reads. This object may outlive the rank.
 */
#pragma once

#include "agent/messages/rank_seen.hpp"
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
    /* Maps the page in `file`. Throws Rejected unless it is this rank's page, or Error if it
     * cannot be mapped. */
    RankPage(const Fd &file, int rank, int rank_count);
    ~RankPage();
    RankPage(const RankPage &) = delete;
    RankPage &operator=(const RankPage &) = delete;

    std::vector<ckpt_clock> clocks() const;
    std::uint64_t sent(int peer) const;
    std::uint64_t received(int peer) const;
    PeerCounts counts() const;
    /* Whether the library blocks the checkpoint signal in the rank, and takes it later. */
    bool is_busy() const;
    /* Number of checkpoint signals that the answering thread has taken. */
    std::uint64_t signals_taken() const;
    /* Complete after the rank has sent LOGGED. */
    RankSeen seen() const;

    void set_targets(const std::vector<std::uint64_t> &targets);
    void set_expected(const std::vector<std::uint64_t> &expected);
    /* For the proxy of a dead rank: sets the collectives that the rank has been through. */
    void set_clocks(const std::vector<ckpt_clock> &clocks);
    /* Sets whether pages of the rank are write-protected. The rank checks this before it gives
     * memory back. */
    void set_protected(bool is_protected);
    /* Sets the newest checkpoint of the job. */
    void set_committed(std::uint64_t number);

  private:
    ckpt_rank_page *page_ = nullptr;
    std::size_t size_;
    int rank_count_;
};

} // namespace ckpt
