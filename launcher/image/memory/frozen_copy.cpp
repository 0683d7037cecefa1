/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frozen_copy.cpp - a process that holds a copy of a rank's memory and does
 * not run.
 */
#include "config.h"
#include "image/memory/frozen_copy.hpp"

#include "common/error.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cstdio>
#include <fstream>
#include <utility>
#include <vector>

namespace ckpt
{

namespace
{

/* Returns the mapped ranges of a process, by ascending address, with neighbours
 * merged. */
std::vector<ckpt_range> mapped_ranges(pid_t pid)
{
    std::ifstream maps(fmt::format("/proc/{}/maps", pid));
    std::vector<ckpt_range> ranges;
    for (std::string line; std::getline(maps, line);) {
        ckpt_range range;
        if (std::sscanf(line.c_str(), "%lx-%lx", &range.start, &range.end) != 2) {
            continue;
        }
        if (!ranges.empty() && ranges.back().end == range.start) {
            ranges.back().end = range.end;
        } else {
            ranges.push_back(range);
        }
    }
    return ranges;
}

} // namespace

FrozenCopy::FrozenCopy(pid_t pid, Fd connection, Use use)
    : pid_(pid), connection_(std::move(connection)), use_(use)
{
}

bool FrozenCopy::is_alive() const noexcept
{
    pollfd ended = {connection_.get(), POLLRDHUP, 0};

    return ::poll(&ended, 1, 0) == 0;
}

void FrozenCopy::release(const ckpt_range &range) const noexcept
{
    if (use_ == Use::read_once) {
        (void)!::send(connection_.get(), &range, sizeof range, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

std::string FrozenCopy::missing(const RankImage &image) const
{
    std::vector<ckpt_range> ranges = mapped_ranges(pid_);
    std::size_t next = 0;
    for (const ckpt_region &region : image.regions) {
        while (next < ranges.size() && ranges[next].end <= region.start) {
            next++;
        }
        if (next == ranges.size() || ranges[next].start > region.start ||
            ranges[next].end < region.end) {
            return fmt::format("its copy does not have the memory at {:#x}",
                               region.start);
        }
    }
    return {};
}

} // namespace ckpt
