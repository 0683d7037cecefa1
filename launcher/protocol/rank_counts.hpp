/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_counts.hpp - a number of messages for each rank of a job, as runs of
 * ranks that have the same number. A job in which each rank talks to a few
 * others has a few runs, and so has one in which all talk to all alike.
 */
#pragma once

#include <cstdint>
#include <vector>

namespace ckpt
{

class RankCounts
{
  public:
    /* `value` messages for each of the ranks [begin, end); never 0. */
    struct Run {
        std::uint32_t begin;
        std::uint32_t end;
        std::uint64_t value;

        bool operator==(const Run &) const = default;
    };

    /* No messages for anybody. */
    RankCounts() = default;
    /* Runs in any order, which may overlap: they are added up. */
    explicit RankCounts(const std::vector<Run> &runs);
    /* counts[rank] */
    static RankCounts dense(const std::vector<std::uint64_t> &counts);

    std::uint64_t at(std::uint32_t rank) const;
    std::uint64_t total() const; /* for all ranks together */
    /* The first rank that has messages, and the one after the last; 0 and 0
     * if none has. */
    std::uint32_t begin() const;
    std::uint32_t end() const;

    RankCounts &operator+=(const RankCounts &other);
    /* The same for the ranks [begin, end), nothing for all others. */
    RankCounts slice(std::uint32_t begin, std::uint32_t end) const;

    /* In the order of ranks, disjoint; neighbours differ in value. */
    const std::vector<Run> &runs() const { return runs_; }
    bool operator==(const RankCounts &) const = default;

  private:
    std::vector<Run> runs_;
};

} // namespace ckpt
