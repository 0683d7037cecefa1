/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replayed_memory.hpp - memory as a process saw it before its failure.
 */
#pragma once

#include "system.hpp"

namespace model
{

/*
 * Returns `page` as the replaying process may see it at its present time: from
 * a starting copy and logged diffs of all writers. `restart` is the time of the
 * checkpoint from which the replay starts.
 */
Page &replayed_page(System &system, Process &process, const Vector &restart,
                    int page);

/* Applies to a home's page the logged diffs of other processes that it
 * lacks. */
void apply_remaining_diffs(System &system, Process &process, int page);

/*
 * Records in replayed memory that `pages` contain the stores of the interval
 * that `process` has just ended.
 */
void note_own_interval(System &system, Process &process,
                       const std::vector<int> &pages);

} // namespace model
