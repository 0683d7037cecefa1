/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_counts.hpp - numbers of messages for all ranks of a job, as runs of
 * ranks with the same number. There are few runs if each rank communicates with
 * few others, or if all ranks communicate with all others alike.
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

    /* No messages for any rank. */
    RankCounts() = default;
    /* Adds up the runs, which may be in any order and may overlap. */
    explicit RankCounts(const std::vector<Run> &runs);
    /* counts: by rank */
    static RankCounts dense(const std::vector<std::uint64_t> &counts);

    std::uint64_t at(std::uint32_t rank) const;
    std::uint64_t total() const; /* for all ranks together */
    /* The first rank that has messages, and the one after the last; both 0
     * if no rank has messages. */
    std::uint32_t begin() const;
    std::uint32_t end() const;

    RankCounts &operator+=(const RankCounts &other);
    /* Returns the same numbers for the ranks [begin, end), and 0 for all
     * other ranks. */
    RankCounts slice(std::uint32_t begin, std::uint32_t end) const;

    /* Disjoint and in the order of ranks; adjacent runs differ in value. */
    const std::vector<Run> &runs() const { return runs_; }
    bool operator==(const RankCounts &) const = default;

  private:
    std::vector<Run> runs_;
};

} // namespace ckpt
