/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mutations.hpp - good input made bad at random, for tests that no input from outside does harm.
 *
 * The same round number gives the same input. $CKPT_FUZZ_SEED is the number of the first round.
 * $CKPT_FUZZ_SECONDS is the duration of each test (tests/campaign-decoders), which otherwise runs
 * some hundred rounds.
 */
#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace ckpt::test
{

class Mutations
{
  public:
    explicit Mutations(std::uint64_t round)
        : random_(round) {}

    /* Returns a number from 0 to below `end`. */
    std::size_t below(std::size_t end)
    {
        return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
    }
    bool one_in(std::size_t count) { return below(count) == 0; }
    std::uint64_t number()
    {
        constexpr std::uint64_t edges[] = {0, 1, 2, 3,
                                           0x7f, 0xff, 0xffff, 0x7fffffff,
                                           0x80000000, 0xffffffff, 1ull << 63, ~0ull};
        return one_in(4) ? random_() : edges[below(std::size(edges))];
    }

    /* Changes, removes, repeats or makes up some bytes. */
    std::string bytes(std::string text)
    {
        for (std::size_t count = 1 + below(4); count > 0; count--) {
            change(text);
        }
        return text;
    }

    /* Changes the kind or size of some values, removes members and repeats elements. Texts become
     * one of a few that name no path outside of the working directory. */
    nlohmann::json json(nlohmann::json value)
    {
        for (std::size_t count = 1 + below(3); count > 0; count--) {
            change(value, 0);
        }
        return value;
    }

  private:
    void change(std::string &text)
    {
        const std::size_t at = below(text.size() + 1);
        const std::size_t size = std::min<std::size_t>(text.size() - at, 1 + below(16));

        switch (below(6)) {
        case 0:
            text.resize(at);
            break;
        case 1:
            text.erase(at, size);
            break;
        case 2:
            text.insert(at, text.substr(at, size));
            break;
        case 3:
            text.insert(at, 1 + below(8), static_cast<char>(number()));
            break;
        default:
            if (at < text.size()) {
                text[at] = static_cast<char>(
                    one_in(2) ? number()
                              : static_cast<unsigned char>(text[at]) ^ 1u << below(8));
            }
        }
    }

    void change(nlohmann::json &value, int depth)
    {
        if (value.is_structured() && !value.empty() && (depth == 0 || !one_in(4))) {
            auto element = std::next(value.begin(),
                                     static_cast<std::ptrdiff_t>(below(value.size())));
            if (one_in(8)) {
                value.erase(element);
            } else if (value.is_array() && one_in(8)) {
                const nlohmann::json copy = *element;
                value.insert(value.end(), 1 + below(8), copy);
            } else {
                change(*element, depth + 1);
            }
            return;
        }
        value = other(value);
    }

    nlohmann::json other(const nlohmann::json &value)
    {
        if (value.is_number() && !one_in(4)) {
            const std::uint64_t edge = number();
            return one_in(3) ? nlohmann::json(-static_cast<std::int64_t>(edge >> 1))
                             : nlohmann::json(edge);
        }
        switch (below(8)) {
        case 0:
            return nullptr;
        case 1:
            return -1;
        case 2:
            return 1e300;
        case 3:
            return true;
        case 4:
            return nlohmann::json::array();
        case 5:
            return nlohmann::json::object();
        case 6:
            return std::string(one_in(2) ? 0 : 600, 'x');
        default:
            return number();
        }
    }

    std::mt19937_64 random_;
};

inline std::uint64_t number_from_environment(const char *name, std::uint64_t otherwise)
{
    const char *text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/* Calls round(mutations) again and again; a failure names the round. Who goes on for some time
 * says how many there were. */
template <typename Round>
void for_rounds(std::uint64_t count, Round round)
{
    using std::chrono::steady_clock;
    const std::uint64_t first = number_from_environment("CKPT_FUZZ_SEED", 1);
    const std::uint64_t seconds = number_from_environment("CKPT_FUZZ_SECONDS", 0);
    const auto end = steady_clock::now() + std::chrono::seconds(seconds);

    std::uint64_t i = 0;
    for (; (seconds > 0 ? steady_clock::now() < end : i < count) &&
           !testing::Test::HasFailure();
         i++) {
        SCOPED_TRACE("CKPT_FUZZ_SEED=" + std::to_string(first + i));
        Mutations mutations(first + i);
        round(mutations);
    }
    if (seconds > 0) {
        std::cout << i << " rounds\n";
    }
}

} // namespace ckpt::test
