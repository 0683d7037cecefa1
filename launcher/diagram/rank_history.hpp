/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_history.hpp - the events of one rank in a trace.
 */
#pragma once

#include "image/store/checkpoint_trace.hpp"

#include <cstdint>
#include <vector>

namespace ckpt::diagram
{

/* Times as in the trace; unknown_time if the trace does not have them. */
struct RankHistory {
    struct Stop {
        std::int64_t from;
        std::int64_t to; /* unknown_time: until the end of the trace */
    };

    int rank = 0;
    std::int64_t requested = unknown_time; /* the first order */
    std::int64_t reported = unknown_time;  /* the first answer */
    std::int64_t cut = unknown_time;       /* the last recorded one */
    std::int64_t captured = unknown_time;
    std::vector<Stop> stops; /* in order, without overlaps */

    /* Returns the total stop time in nanoseconds, if the trace ends at
     * `end`. */
    std::int64_t stood_still(std::int64_t end) const;
};

/* Returns the histories of all ranks with events, by rank. */
std::vector<RankHistory> rank_histories(const CheckpointTrace &trace);

/* Returns the time of the last event; 0 if no event is later than the
 * request. */
std::int64_t end_of(const CheckpointTrace &trace);

} // namespace ckpt::diagram
