/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage.hpp - what is wrong with a command line, in words of ours, and what may have been meant.
 *
 * For files that declare options only, as options.hpp.
 */
#pragma once

#include "cli/program.hpp"

#include <CLI/CLI.hpp>

#include <initializer_list>
#include <string>

namespace ckpt::cli
{

/* The candidate that a mistyped word is nearest to; "" if none is near. */
std::string nearest(const std::string &word, const Words &candidates);

/* "; did you mean 'X'?", or "". */
std::string suggestion(const std::string &word, const Words &candidates);

/* What an option takes: a whole number from `least` on; one of the words; bytes, as 200M. */
CLI::Validator whole_number_from(long long least);
CLI::Validator one_of(std::initializer_list<const char *> words);
CLI::Validator byte_size();

/* What is wrong with `words`, which `program` has failed to parse. */
std::string usage_error(const Program &program, const Words &words,
                        const CLI::ParseError &problem);

} // namespace ckpt::cli
