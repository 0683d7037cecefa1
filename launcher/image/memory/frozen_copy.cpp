/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frozen_copy.cpp - a process that holds a copy of a rank's memory and does
 * not run.
 */
#include "config.h"
#include "image/memory/frozen_copy.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/sockets/descriptor_passing.hpp"
#include "image/memory/copy_packet.hpp"

#include "ckpt/copy_orders.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
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

/* Time for a copy to copy its page tables. */
constexpr int longest_twin = 10'000; /* ms */

void send_twin_order(int connection, int descriptor)
{
    ckpt_copy_order order{};

    order.type = CKPT_COPY_TWIN;
    order.value = static_cast<std::uint64_t>(::getpid());
    if (const int error = send_copy_packet(connection, order, {}, {&descriptor, 1}); error != 0) {
        fail_errno(error, "the order to make another copy does not reach a frozen copy");
    }
}

ckpt_copy_order receive_answer(int connection)
{
    ckpt_copy_order answer{};
    pollfd ready = {connection, POLLIN, 0};

    if (::poll(&ready, 1, longest_twin) != 1 ||
        ::recv(connection, &answer, sizeof answer, MSG_DONTWAIT) !=
            static_cast<ssize_t>(sizeof answer) ||
        answer.type != CKPT_COPY_DONE) {
        fail("a frozen copy makes no copy of itself");
    }
    return answer;
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

std::shared_ptr<const FrozenCopy> FrozenCopy::twin() const
{
    CKPT_EXPECT(use_ == Use::kept);
    auto [own, theirs] = connected_pair(
        SOCK_SEQPACKET, fmt::format("no connection to another copy of process {}", pid_));
    send_twin_order(connection_.get(), theirs.get());
    const auto pid = static_cast<std::int64_t>(receive_answer(connection_.get()).value);
    if (pid <= 0) {
        fail_errno(static_cast<int>(-pid), "no copy of the copy {}", pid_);
    }
    return std::make_shared<FrozenCopy>(static_cast<pid_t>(pid), std::move(own), Use::kept);
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
