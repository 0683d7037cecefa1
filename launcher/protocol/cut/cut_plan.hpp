/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut_plan.hpp - the parameters of one checkpoint.
 */
#pragma once

#include "protocol/lanes.hpp"
#include "protocol/protocol.hpp"

#include <chrono>

namespace ckpt
{

struct CutPlan {
    /* Falls back to Sync-and-Stop if a rank cannot be saved otherwise. */
    Protocol protocol = Protocol::sync_and_stop;
    /* Ranks of a lane are cut one after another, each when the previous one
     * has been saved. Empty: all at once. With Sync-and-Stop all are cut at
     * once, and the receiver of Capture staggers the saving. */
    Lanes lanes;
    /* The dead rank that a proxy replaces (protocol/rank_proxy.hpp); -1: none. */
    int replayed = -1;
    /* With a proxy: time limit until all ranks have described themselves. */
    std::chrono::steady_clock::duration agree_within{};
    /* The ranks are killed after this checkpoint, and stand still until then. So it is
     * Sync-and-Stop, whatever `protocol` says. */
    bool kill = false;
};

} // namespace ckpt
