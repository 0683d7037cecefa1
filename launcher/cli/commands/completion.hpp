/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * completion.hpp - generates shell completion scripts for `ckpt` from the declared options.
 */
#pragma once

#include "cli/base/program.hpp"

#include <string>

namespace ckpt::cli
{

/* Returns a script for "bash" or "zsh". Throws CommandError(exit_usage) for another shell. */
std::string completion(const Program &program, const std::string &shell);

} // namespace ckpt::cli
