/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random_numbers.hpp - random numbers that are the same on every machine.
 *
 * The standard's distributions differ between libraries, but a seed must
 * reproduce an error on every machine.
 */
#pragma once

#include <cstdint>
#include <vector>

namespace model
{

/* One step of splitmix64: advances `state` and returns its mixture. */
inline std::uint64_t mixed(std::uint64_t &state)
{
    std::uint64_t z = state += 0x9e3779b97f4a7c15;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

class RandomNumbers
{
  public:
    explicit RandomNumbers(std::uint64_t seed) : state(seed)
    {
        mixed(state);
    }

    /* 0 <= number < limit */
    int below(int limit)
    {
        return static_cast<int>(mixed(state) % limit);
    }

    /* first <= number <= last */
    int between(int first, int last)
    {
        return first + below(last - first + 1);
    }

    /* 0 <= fraction < 1 */
    double fraction()
    {
        return static_cast<double>(mixed(state) >> 11) * 0x1p-53;
    }

    bool chance(double probability)
    {
        return fraction() < probability;
    }

    template <class T> const T &among(const std::vector<T> &values)
    {
        return values[below(static_cast<int>(values.size()))];
    }

  private:
    std::uint64_t state;
};

} // namespace model
