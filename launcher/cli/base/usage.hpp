/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage.hpp - explains errors in a command line, with suggestions.
 *
 * Only for files that declare options, like options.hpp.
 */
#pragma once

#include "cli/base/program.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace ckpt::cli
{

/* Explains the error in `words`, which `program` has failed to parse. */
std::string usage_error(const Program &program, const Words &words,
                        const CLI::ParseError &problem);

} // namespace ckpt::cli
