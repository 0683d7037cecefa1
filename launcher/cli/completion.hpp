/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * completion.hpp - what a shell completes words of `ckpt` with, from the options that commands
 * have declared.
 */
#pragma once

#include "cli/program.hpp"

#include <string>

namespace ckpt::cli
{

/* A script for "bash" or "zsh". Throws CommandError(exit_usage) for another shell. */
std::string completion(const Program &program, const std::string &shell);

} // namespace ckpt::cli
