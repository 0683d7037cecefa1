/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * restart_input.hpp - where a job that is restarted by hand gets its standard input from.
 */
#pragma once

#include "common/fd.hpp"
#include "image/tiers.hpp"

#include <filesystem>
#include <string>

namespace ckpt::cli
{

struct RestartInput {
    std::string variable; /* value of CKPT_INPUT */
    Fd given{};           /* for the launcher; none: ours */
    std::filesystem::path path{}; /* of that */
    std::string warning{}; /* what is, or may be, lost; empty: nothing */
};

/* By what the checkpoint has and what `ckpt run` has kept in the directories. Throws Error. */
RestartInput restart_input(const TierDirectories &directories, const Checkpoint &checkpoint);

} // namespace ckpt::cli
