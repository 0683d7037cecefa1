/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_history.hpp - what a trace tells of one rank.
 */
#pragma once

#include "image/checkpoint_trace.hpp"

#include <cstdint>
#include <vector>

namespace ckpt::diagram
{

/* Times as in the trace; unknown_time for what is not told. */
struct RankHistory {
    struct Stop {
        std::int64_t from;
        std::int64_t to; /* unknown_time: up to the end of the trace */
    };

    int rank = 0;
    std::int64_t requested = unknown_time; /* the first order */
    std::int64_t reported = unknown_time;  /* the first answer */
    std::int64_t cut = unknown_time;       /* the last one told */
    std::int64_t captured = unknown_time;
    std::vector<Stop> stops; /* in order, apart from one another */

    /* Nanoseconds in all, if the trace ends at `end`. */
    std::int64_t stood_still(std::int64_t end) const;
};

/* Of the ranks that have events, by rank. */
std::vector<RankHistory> rank_histories(const CheckpointTrace &trace);

/* The time of the last event; 0 if there is none later than the request. */
std::int64_t end_of(const CheckpointTrace &trace);

} // namespace ckpt::diagram
