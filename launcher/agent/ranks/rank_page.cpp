/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_page.cpp - a rank page, mapped by the agent.
 */
#include "agent/ranks/rank_page.hpp"

#include "agent/base/rejected_frames.hpp"
#include "common/invariant.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

namespace ckpt
{

namespace
{

/* The rank is another process, so no lock can take the place of atomic accesses. */
static_assert(__atomic_always_lock_free(sizeof(std::uint64_t), nullptr));

std::uint64_t load(const std::uint64_t &field)
{
    return __atomic_load_n(&field, __ATOMIC_ACQUIRE);
}

void store(std::uint64_t &field, std::uint64_t value)
{
    __atomic_store_n(&field, value, __ATOMIC_RELEASE);
}

} // namespace

RankPage::RankPage(const Fd &file, int rank, int rank_count)
    : size_(CKPT_RANK_PAGE_SIZE(static_cast<std::size_t>(rank_count))),
      rank_count_(rank_count)
{
    CKPT_EXPECT(rank >= 0 && rank < rank_count);
    struct stat status;

    if (!file || fstat(file.get(), &status) < 0 ||
        static_cast<std::size_t>(status.st_size) < size_) {
        reject(Rejection::malformed, "rank {} brought no rank page of {} bytes", rank, size_);
    }
    /* Otherwise the rank could truncate the file, and a read beyond its end would kill the
     * agent. */
    const int seals = fcntl(file.get(), F_GET_SEALS); /* -1: a file without seals */
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
        reject(Rejection::malformed, "rank {} brought a rank page whose size may change", rank);
    }
    void *address =
        mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (address == MAP_FAILED) {
        fail_errno(errno, "rank {}: cannot map its page", rank);
    }
    auto *page = static_cast<ckpt_rank_page *>(address);
    if (page->magic != CKPT_PAGE_MAGIC || page->version != CKPT_WIRE_VERSION ||
        page->rank != static_cast<std::uint32_t>(rank) ||
        page->rank_count != static_cast<std::uint32_t>(rank_count)) {
        munmap(address, size_);
        reject(Rejection::malformed, "rank {}: what it brought is not its rank page", rank);
    }
    page_ = page;
}

RankPage::~RankPage()
{
    munmap(page_, size_);
}

std::vector<ckpt_clock> RankPage::clocks() const
{
    std::uint32_t count = std::min(
        __atomic_load_n(&page_->clock_count, __ATOMIC_ACQUIRE),
        CKPT_CLOCK_SLOTS);
    std::vector<ckpt_clock> clocks;

    clocks.reserve(count);
    for (std::uint32_t i = 0; i < count; i++) {
        const ckpt_clock &clock = page_->clock[i];
        ckpt_clock copy;
        copy.id = load(clock.id);
        copy.settled = load(clock.settled); /* in this order, so that settled <= left */
        copy.left = load(clock.left);       /* and left <= entered */
        copy.entered = load(clock.entered);
        copy.target = load(clock.target);
        clocks.push_back(copy);
    }
    return clocks;
}

std::uint64_t RankPage::sent(int peer) const
{
    CKPT_EXPECT(peer >= 0 && peer < rank_count_);
    return load(ckpt_page_peers(page_)[peer].sent);
}

std::uint64_t RankPage::received(int peer) const
{
    CKPT_EXPECT(peer >= 0 && peer < rank_count_);
    return load(ckpt_page_peers(page_)[peer].received);
}

bool RankPage::is_busy() const
{
    return load(page_->signal.busy) != 0;
}

std::uint64_t RankPage::signals_taken() const
{
    return load(page_->signal.taken);
}

PeerCounts RankPage::counts() const
{
    PeerCounts counts;

    for (int peer = 0; peer < rank_count_; peer++) {
        counts.sent.push_back(sent(peer));
        counts.received.push_back(received(peer));
    }
    return counts;
}

RankSeen RankPage::seen() const
{
    const ckpt_history &history = page_->history;
    RankSeen seen;

    for (std::size_t kind = 0; kind < CKPT_SEEN_KINDS; kind++) {
        seen.counts[kind] = load(history.count[kind]);
    }
    seen.logged_bytes = load(history.logged_bytes);
    std::uint64_t kept =
        std::min<std::uint64_t>(load(history.kept), CKPT_HISTORY_EVENTS);
    seen.events.assign(history.event, history.event + kept);
    return seen;
}

void RankPage::set_targets(const std::vector<std::uint64_t> &targets)
{
    std::size_t count =
        std::min<std::size_t>(targets.size(), CKPT_CLOCK_SLOTS);

    for (std::size_t i = 0; i < count; i++) {
        store(page_->clock[i].target, targets[i]);
    }
}

void RankPage::set_expected(const std::vector<std::uint64_t> &expected)
{
    for (int i = 0; i < rank_count_ && i < static_cast<int>(expected.size());
         i++) {
        store(ckpt_page_peers(page_)[i].expected, expected[i]);
    }
}

void RankPage::set_clocks(const std::vector<ckpt_clock> &clocks)
{
    std::size_t count = std::min<std::size_t>(clocks.size(), CKPT_CLOCK_SLOTS);

    for (std::size_t i = 0; i < count; i++) {
        store(page_->clock[i].entered, clocks[i].entered);
        store(page_->clock[i].left, clocks[i].left);
        store(page_->clock[i].settled, clocks[i].settled);
    }
}

void RankPage::set_protected(bool is_protected)
{
    __atomic_store_n(&page_->is_protected, is_protected ? 1 : 0, __ATOMIC_RELAXED);
}

void RankPage::set_committed(std::uint64_t number)
{
    store(page_->committed, number);
}

} // namespace ckpt
