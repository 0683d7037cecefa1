/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own_status.hpp - the status that `ckpt run` reports for its job while no agent can: the
 * job is swapped out or starting.
 */
#pragma once

#include "agent/control/control.hpp"
#include "image/store/tiers.hpp"

#include <string>

namespace ckpt::cli
{

/*
 * Returns the status of this process's job, swapped out at `since` (seconds since 1970). The
 * details come from the job's newest checkpoint. Throws Error if the directories cannot be
 * read.
 */
control::Status swapped_out_status(const TierDirectories &directories, const std::string &job,
                                   double since);

/* The same for a job whose agents have not reported all ranks yet, or have ended. */
control::Status starting_status(const TierDirectories &directories, const std::string &job);

bool is_swapped_out(const control::Status &status);

} // namespace ckpt::cli
