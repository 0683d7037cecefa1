/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replayed_memory.hpp - memory as a process saw it before it failed.
 */
#pragma once

#include "system.hpp"

namespace model
{

/*
 * `page` as `process`, which is replaying, may see it at its present time: from
 * a starting copy and logged diffs of all writers. `restart` is the time of the
 * checkpoint it is replayed from.
 */
Page &replayed_page(System &system, Process &process, const Vector &restart,
                    int page);

/* Applies to a home's page all logged diffs of others that it lacks. */
void apply_remaining_diffs(System &system, Process &process, int page);

/*
 * Notes in replayed memory that `pages` have the stores of the interval which
 * `process` has just ended.
 */
void note_own_interval(System &system, Process &process,
                       const std::vector<int> &pages);

} // namespace model
