/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_cut.hpp - whether a rank has been cut and is still open, as its messages show:
 * for a coordinator that takes the place of another one in the middle.
 */
#pragma once

#include "ckpt/wire.h"

#include <cstdint>

namespace ckpt
{

struct RankCut {
    std::uint64_t epoch = 0; /* of its last cut */
    bool open = false;       /* since then */
    bool in_doubt = false;   /* it was to be cut, and has not been told otherwise */
    std::uint64_t asked = 0; /* the epoch of a CUT that it has not answered; or 0 */

    /* Whether it is open, as far as can be known before it answers. */
    bool may_be_open() const { return open || asked != 0; }
};

/* Follows what one rank and its agent say to each other. */
class RankCutWatch
{
  public:
    RankCutWatch() = default;
    explicit RankCutWatch(const RankCut &known) : cut_(known) {}

    void hello(const ckpt_message &message);
    void ordered(ckpt_message_type type, std::uint64_t epoch,
                 std::uint64_t argument);
    void answered(const ckpt_message &message);

    const RankCut &cut() const { return cut_; }

  private:
    RankCut cut_;
    bool close_ordered_ = false; /* and not answered */
};

} // namespace ckpt
