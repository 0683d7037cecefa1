/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own_status.hpp - what `ckpt run` says of its job while no agent can: it is swapped out, or
 * being started.
 */
#pragma once

#include "agent/control.hpp"
#include "image/tiers.hpp"

#include <string>

namespace ckpt::cli
{

/*
 * Of this process's job, which is so since `since` (seconds since 1970). What is told of the
 * program and of its newest checkpoint is that checkpoint's. Throws Error if the directories
 * cannot be read.
 */
control::Status swapped_out_status(const TierDirectories &directories, const std::string &job,
                                   double since);

/* Likewise, while its agents have not told of all ranks yet, or are gone. */
control::Status starting_status(const TierDirectories &directories, const std::string &job);

bool is_swapped_out(const control::Status &status);

} // namespace ckpt::cli
