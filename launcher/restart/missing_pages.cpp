/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * missing_pages.cpp - a map from present addresses to saved ones.
 */
#include "config.h"
#include "restart/missing_pages.hpp"

#include "common/invariant.hpp"

#include <algorithm>

namespace ckpt::restart
{

namespace
{

constexpr std::uint64_t page_size = 4096;

} // namespace

MissingPages::MissingPages(std::uint64_t block)
    : block_(block)
{
    CKPT_EXPECT(block > 0 && block % page_size == 0);
}

void MissingPages::add(const ckpt_range &region, const PageRanges &content)
{
    CKPT_EXPECT(region.start < region.end);
    CKPT_EXPECT(regions_.empty() || regions_.back().end <= region.start);
    regions_.push_back(region);
    for (const ckpt_range &range : content) {
        CKPT_EXPECT(range.start >= region.start && range.end <= region.end);
        CKPT_EXPECT((range.start | range.end) % page_size == 0);
        runs_[range.start] = {range.start, range.start, range.end - range.start};
    }
}

/* Makes a run begin at the address, if one has it inside. */
void MissingPages::split(std::uint64_t address)
{
    auto run = runs_.lower_bound(address);
    if (run == runs_.begin()) {
        return;
    }
    MissingPiece &left = (--run)->second;
    if (left.end() > address) {
        const std::uint64_t size = address - left.address;
        runs_[address] = {address, left.saved + size, left.size - size};
        left.size = size;
    }
}

void MissingPages::remove(const ckpt_range &range)
{
    CKPT_EXPECT(range.start <= range.end && (range.start | range.end) % page_size == 0);
    split(range.start);
    split(range.end);
    runs_.erase(runs_.lower_bound(range.start), runs_.lower_bound(range.end));
    CKPT_INVARIANT(run_at(range.start) == runs_.end() || range.start == range.end);
}

void MissingPages::move(std::uint64_t from, std::uint64_t to, std::uint64_t size)
{
    split(from);
    split(from + size);
    std::vector<MissingPiece> moved;
    for (auto run = runs_.lower_bound(from); run != runs_.end() && run->first < from + size;) {
        moved.push_back(run->second);
        run = runs_.erase(run);
    }
    remove({to, to + size});
    for (MissingPiece &piece : moved) {
        CKPT_INVARIANT(piece.address >= from && piece.end() <= from + size);
        piece.address = to + (piece.address - from);
        runs_[piece.address] = piece;
    }
}

MissingPages::Runs::const_iterator MissingPages::run_at(std::uint64_t address) const
{
    auto run = runs_.upper_bound(address);
    if (run == runs_.begin()) {
        return runs_.end();
    }
    --run;
    return run->second.end() > address ? run : runs_.end();
}

/* Returns the part of the run that is in the same block as the address. */
MissingPiece MissingPages::within_block(const MissingPiece &run, std::uint64_t address) const
{
    CKPT_INVARIANT(address >= run.address && address < run.end());
    const std::uint64_t saved = run.saved + (address - run.address);
    auto region = std::ranges::upper_bound(regions_, saved, {}, &ckpt_range::start);
    CKPT_INVARIANT(region != regions_.begin() && saved < std::prev(region)->end);
    const std::uint64_t origin = (--region)->start;
    const std::uint64_t block = origin + (saved - origin) / block_ * block_;
    const std::uint64_t first = std::max(block, run.saved);
    const std::uint64_t end = std::min(block + block_, run.saved + run.size);
    return {run.address + (first - run.saved), first, end - first};
}

std::optional<MissingPiece> MissingPages::at(std::uint64_t address) const
{
    const auto run = run_at(address);
    return run == runs_.end() ? std::nullopt : std::optional(within_block(run->second, address));
}

std::optional<MissingPiece> MissingPages::next(std::uint64_t address) const
{
    if (auto piece = at(address)) {
        return piece;
    }
    auto run = runs_.lower_bound(address);
    if (run == runs_.end()) {
        run = runs_.begin();
    }
    return run == runs_.end() ? std::nullopt : std::optional(within_block(run->second, run->first));
}

std::uint64_t MissingPages::bytes() const
{
    std::uint64_t sum = 0;
    for (const auto &[address, run] : runs_) {
        sum += run.size;
    }
    return sum;
}

} // namespace ckpt::restart
