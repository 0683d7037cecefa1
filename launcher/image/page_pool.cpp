/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_pool.cpp - a bounded number of places for copies of pages.
 */
#include "config.h"
#include "image/page_pool.hpp"

#include "common/error.hpp"

#include <sys/eventfd.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace ckpt
{

std::size_t require_granule(std::size_t granule)
{
    if (!std::has_single_bit(granule) || granule < 4096 || granule > (1u << 20)) {
        fail("{} is no power of two from 4096 to 1048576", granule);
    }
    return granule;
}

PagePool::PagePool(std::size_t bytes, std::size_t granule)
    : granule_(granule), size_(std::max(granule, bytes / granule * granule))
{
    void *address = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) {
        fail_errno(errno, "no memory for a pool of {} bytes", size_);
    }
    base_ = static_cast<std::byte *>(address);
    (void)::madvise(base_, size_, MADV_HUGEPAGE); /* programs wait for its first touch */
}

PagePool::~PagePool()
{
    ::munmap(base_, size_);
}

std::byte *PagePool::take(int waiting)
{
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
        std::byte *place = free_.back();
        free_.pop_back();
        return place;
    }
    if ((used_ + 1) * granule_ <= size_) {
        return base_ + used_++ * granule_;
    }
    if (std::ranges::find(waiting_, waiting) == waiting_.end()) {
        waiting_.push_back(waiting);
    }
    return nullptr;
}

void PagePool::give_back(std::byte *place)
{
    std::lock_guard lock(mutex_);
    free_.push_back(place);
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
