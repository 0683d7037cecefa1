/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * restart_input.hpp - the source of standard input for a job that is restarted manually.
 */
#pragma once

#include "common/fd.hpp"
#include "image/store/tiers.hpp"

#include <filesystem>
#include <string>

namespace ckpt::cli
{

struct RestartInput {
    std::string variable;         /* value of CKPT_INPUT */
    Fd given{};                   /* input for the launcher; invalid: that of this process */
    std::filesystem::path path{}; /* path of `given` */
    std::string warning{};        /* input that is, or may be, lost; empty: none */
};

/* Decides by the content of the checkpoint and by the input that `ckpt run` has kept in the
 * directories. Throws Error. */
RestartInput restart_input(const TierDirectories &directories, const Checkpoint &checkpoint);

} // namespace ckpt::cli
