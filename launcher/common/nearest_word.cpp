/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nearest_word.cpp - finds the word that a mistyped one is most like.
 */
#include "common/nearest_word.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace ckpt
{

namespace
{

/* Returns the Damerau-Levenshtein distance: the number of letters to insert, delete, replace or
 * exchange with the next. */
std::size_t distance(const std::string &from, const std::string &to)
{
    const std::size_t width = to.size() + 1;
    std::vector<std::size_t> table((from.size() + 1) * width);
    const auto at = [&](std::size_t i, std::size_t j) -> std::size_t & {
        return table[i * width + j];
    };

    for (std::size_t i = 0; i <= from.size(); i++) {
        for (std::size_t j = 0; j <= to.size(); j++) {
            if (i == 0 || j == 0) {
                at(i, j) = i + j;
                continue;
            }
            const std::size_t changed = from[i - 1] == to[j - 1] ? 0 : 1;
            at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + changed});
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
                at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
            }
        }
    }
    return table.back();
}

} // namespace

std::string nearest(const std::string &word, const std::vector<std::string> &candidates)
{
    std::string best;
    /* Candidates at a greater distance are unlikely to be meant. */
    std::size_t least = 1 + std::max<std::size_t>(1, word.size() / 3);

    for (const std::string &candidate : candidates) {
        const std::size_t steps = distance(word, candidate);
        if (steps < least) {
            least = steps;
            best = candidate;
        }
    }
    return best;
}

std::string suggestion(const std::string &word, const std::vector<std::string> &candidates)
{
    const std::string best = nearest(word, candidates);
    return best.empty() ? best : fmt::format("; did you mean '{}'?", best);
}

} // namespace ckpt
