/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_pool.cpp - a bounded number of buffers for copies of pages.
 */
#include "config.h"
#include "image/memory/page_pool.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace ckpt
{

namespace
{

constexpr std::size_t growth = 64u << 20; /* bytes; a multiple of every granule size */

/* Maximum size of one mapping; a multiple of every granule size. */
constexpr std::size_t largest_piece = 16u << 20;

/* Upper limit of an automatic pool: a quarter of the machine's memory. */
std::size_t largest_pool()
{
    const auto all = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) *
                     static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return std::max(least_pool, all / 4 / growth * growth);
}

} // namespace

std::size_t require_granule(std::size_t granule)
{
    if (!std::has_single_bit(granule) || granule < 4096 || granule > (1u << 20)) {
        fail("{} is not a power of two from 4096 to 1048576", granule);
    }
    return granule;
}

PagePool::PagePool(std::size_t bytes, std::size_t granule, Available available)
    : granule_(granule), available_(std::move(available)),
      size_(bytes == 0 ? largest_pool() : std::max(granule, bytes / granule * granule)),
      piece_(std::min(size_, largest_piece)),
      first_room_(bytes == 0 ? least_pool : size_), room_(first_room_)
{
    CKPT_EXPECT(granule_ > 0);
    CKPT_INVARIANT(piece_ >= granule_ && piece_ % granule_ == 0);
}

PagePool::~PagePool()
{
    for (std::byte *piece : pieces_) {
        ::munmap(piece, piece_);
    }
}

std::byte *PagePool::take(int waiting)
{
    std::lock_guard lock(mutex_);
    CKPT_INVARIANT(free_.size() <= used_);
    if (!free_.empty()) {
        std::byte *place = free_.back();
        free_.pop_back();
        return place;
    }
    if ((used_ + 1) * granule_ <= room_ || grow()) {
        if (std::byte *place = new_place()) {
            return place;
        }
    }
    if (std::ranges::find(waiting_, waiting) == waiting_.end()) {
        waiting_.push_back(waiting);
    }
    return nullptr;
}

/* The caller holds the mutex. Returns null if the system provides no more memory; the pool
 * does not ask again until all buffers are free. */
std::byte *PagePool::new_place()
{
    const std::size_t in_piece = piece_ / granule_;
    if (used_ / in_piece == pieces_.size() && !map_piece()) {
        room_ = used_ * granule_;
        may_grow_ = false;
        return nullptr;
    }
    std::byte *place = pieces_[used_ / in_piece] + used_ % in_piece * granule_;
    used_++;
    CKPT_INVARIANT(used_ * granule_ <= pieces_.size() * piece_);
    return place;
}

bool PagePool::map_piece()
{
    void *address = ::mmap(nullptr, piece_, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) {
        return false;
    }
    (void)::madvise(address, piece_, MADV_HUGEPAGE); /* writers wait for the first touch */
    pieces_.push_back(static_cast<std::byte *>(address));
    return true;
}

/* The caller holds the mutex. */
bool PagePool::grow()
{
    const std::size_t wanted = room_ + growth;
    may_grow_ = may_grow_ && wanted <= size_ && wanted <= (available_() + room_) / 4;
    room_ += may_grow_ ? growth : 0;
    return may_grow_;
}

/* The caller holds the mutex, and all buffers are free. */
void PagePool::shrink()
{
    CKPT_EXPECT(free_.size() == used_); /* all buffers are free */
    const std::size_t kept = (std::min(first_room_, least_pool) + piece_ - 1) / piece_;
    if (may_grow_ && pieces_.size() <= kept) {
        return;
    }
    while (pieces_.size() > kept) {
        ::munmap(pieces_.back(), piece_);
        pieces_.pop_back();
    }
    free_.clear();
    used_ = 0;
    room_ = first_room_;
    may_grow_ = true;
}

void PagePool::give_back(std::byte *place)
{
    std::lock_guard lock(mutex_);
    CKPT_EXPECT(free_.size() < used_); /* not given back before */
    free_.push_back(place);
    if (free_.size() == used_) {
        shrink();
    }
    for (int descriptor : std::exchange(waiting_, {})) {
        (void)::eventfd_write(descriptor, 1);
    }
}

void PagePool::forget(int waiting)
{
    std::lock_guard lock(mutex_);
    std::erase(waiting_, waiting);
}

} // namespace ckpt
