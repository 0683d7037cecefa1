/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_counts.cpp - sums and slices of runs.
 */
#include "config.h"
#include "protocol/rank_counts.hpp"

#include "common/invariant.hpp"

#include <algorithm>
#include <utility>

namespace ckpt
{

namespace
{

using Run = RankCounts::Run;
using Runs = std::vector<Run>;

/* Appends a run to runs that end at or before its begin. */
void append(Runs &runs, const Run &next)
{
    CKPT_EXPECT(next.begin <= next.end);
    if (next.begin == next.end || next.value == 0) {
        return;
    }
    CKPT_EXPECT(runs.empty() || runs.back().end <= next.begin); /* ascending, apart */
    if (!runs.empty() && runs.back().end == next.begin &&
        runs.back().value == next.value) {
        runs.back().end = next.end;
    } else {
        runs.push_back(next);
    }
}

/* Walks along runs and returns them in pieces. */
class Walk
{
  public:
    explicit Walk(const Runs &runs)
        : next_(runs.begin()), end_(runs.end())
    {
        load();
    }

    bool done() const
    {
        return next_ == end_;
    }
    const Run &rest() const
    {
        return rest_;
    }

    /* Takes the part before `end`. */
    void advance(std::uint32_t end)
    {
        CKPT_EXPECT(end > rest_.begin && end <= rest_.end);
        rest_.begin = end;
        if (rest_.begin == rest_.end) {
            ++next_;
            load();
        }
    }

  private:
    void load()
    {
        if (next_ != end_) {
            rest_ = *next_;
        }
    }

    Runs::const_iterator next_;
    Runs::const_iterator end_;
    Run rest_{};
};

Runs sum(const Runs &left, const Runs &right)
{
    Runs runs;
    runs.reserve(left.size() + right.size());
    Walk a(left);
    Walk b(right);
    while (!a.done() && !b.done()) {
        Walk &first = a.rest().begin <= b.rest().begin ? a : b;
        Walk &other = &first == &a ? b : a;
        const Run one = first.rest();
        const Run two = other.rest();
        if (one.begin < two.begin) {
            const std::uint32_t end = std::min(one.end, two.begin);
            append(runs, {one.begin, end, one.value});
            first.advance(end);
        } else {
            const std::uint32_t end = std::min(one.end, two.end);
            append(runs, {one.begin, end, one.value + two.value});
            first.advance(end);
            other.advance(end);
        }
    }
    for (Walk *walk : {&a, &b}) {
        while (!walk->done()) {
            append(runs, walk->rest());
            walk->advance(walk->rest().end);
        }
    }
    return runs;
}

/* Adds up runs by halves, so that n runs take n log n steps. */
Runs sum_of(const Run *first, const Run *last)
{
    if (last - first < 2) {
        Runs runs;
        std::for_each(first, last, [&](const Run &run) { append(runs, run); });
        return runs;
    }
    const Run *middle = first + (last - first) / 2;
    return sum(sum_of(first, middle), sum_of(middle, last));
}

/* Returns the first run that ends after `rank`. */
Runs::const_iterator find(const Runs &runs, std::uint32_t rank)
{
    return std::upper_bound(
        runs.begin(), runs.end(), rank,
        [](std::uint32_t value, const Run &run) { return value < run.end; });
}

} // namespace

RankCounts::RankCounts(const Runs &runs)
    : runs_(sum_of(runs.data(), runs.data() + runs.size()))
{
}

RankCounts RankCounts::dense(const std::vector<std::uint64_t> &counts)
{
    RankCounts result;
    for (std::uint32_t rank = 0; rank < counts.size(); rank++) {
        append(result.runs_, {rank, rank + 1, counts[rank]});
    }
    return result;
}

std::uint64_t RankCounts::at(std::uint32_t rank) const
{
    const auto run = find(runs_, rank);
    return run != runs_.end() && run->begin <= rank ? run->value : 0;
}

std::uint64_t RankCounts::total() const
{
    std::uint64_t total = 0;
    for (const Run &run : runs_) {
        total += (run.end - run.begin) * run.value;
    }
    return total;
}

std::uint32_t RankCounts::begin() const
{
    return runs_.empty() ? 0 : runs_.front().begin;
}

std::uint32_t RankCounts::end() const
{
    return runs_.empty() ? 0 : runs_.back().end;
}

RankCounts &RankCounts::operator+=(const RankCounts &other)
{
    if (runs_.empty()) {
        runs_ = other.runs_;
    } else if (!other.runs_.empty()) {
        runs_ = sum(runs_, other.runs_);
    }
    return *this;
}

RankCounts RankCounts::slice(std::uint32_t begin, std::uint32_t end) const
{
    RankCounts part;
    auto run = find(runs_, begin);
    for (; begin < end && run != runs_.end() && run->begin < end; ++run) {
        append(part.runs_, {std::max(run->begin, begin),
                            std::min(run->end, end), run->value});
    }
    return part;
}

} // namespace ckpt
