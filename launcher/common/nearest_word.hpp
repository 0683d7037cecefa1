/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nearest_word.hpp - what a mistyped word may have meant.
 */
#pragma once

#include <string>
#include <vector>

namespace ckpt
{

/* Returns the candidate nearest to a mistyped word; "" if none is near. */
std::string nearest(const std::string &word, const std::vector<std::string> &candidates);

/* Returns "; did you mean 'X'?", or "". */
std::string suggestion(const std::string &word, const std::vector<std::string> &candidates);

} // namespace ckpt
