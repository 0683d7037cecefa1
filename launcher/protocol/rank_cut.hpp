/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_cut.hpp - derives from a rank's messages whether it has been cut and is still open. A
 * coordinator that replaces another one in the middle of a checkpoint needs this.
 */
#pragma once

#include "ckpt/wire.h"

#include <cstdint>

namespace ckpt
{

struct RankCut {
    std::uint64_t epoch = 0; /* of its latest cut */
    bool open = false;       /* the rank is open since that cut */
    bool in_doubt = false;   /* a cut was announced, and the rank does not know whether it takes
                                place */
    std::uint64_t asked = 0; /* epoch of a CUT that it has not answered, or 0 */

    /* Whether the rank is open, as far as can be known before it answers. */
    bool may_be_open() const { return open || asked != 0; }
};

/* Follows the messages between one rank and its agent. */
class RankCutWatch
{
  public:
    RankCutWatch() = default;
    explicit RankCutWatch(const RankCut &known)
        : cut_(known) {}

    void hello(const ckpt_message &message);
    void ordered(ckpt_message_type type, std::uint64_t epoch,
                 const ckpt_message_body &body);
    void answered(const ckpt_message &message);

    const RankCut &cut() const { return cut_; }

  private:
    RankCut cut_;
    bool close_ordered_ = false; /* and not answered */
};

} // namespace ckpt
