/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage.hpp - explains errors in a command line, with suggestions.
 *
 * Only for files that declare options, like options.hpp.
 */
#pragma once

#include "cli/base/program.hpp"

#include <CLI/CLI.hpp>

#include <initializer_list>
#include <string>

namespace ckpt::cli
{

/* Returns the candidate nearest to a mistyped word; "" if none is near. */
std::string nearest(const std::string &word, const Words &candidates);

/* Returns "; did you mean 'X'?", or "". */
std::string suggestion(const std::string &word, const Words &candidates);

/* Validators for the values of options: a whole number of at least `least`; one of the words; a
 * number of bytes such as 200M. */
CLI::Validator whole_number_from(long long least);
CLI::Validator one_of(std::initializer_list<const char *> words);
CLI::Validator byte_size();

/* Explains the error in `words`, which `program` has failed to parse. */
std::string usage_error(const Program &program, const Words &words,
                        const CLI::ParseError &problem);

} // namespace ckpt::cli
