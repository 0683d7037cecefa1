/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_pool.hpp - a bounded number of buffers for copies of pages that a process is about to
 * overwrite before they are saved (Plank 1993, section 3.3).
 *
 * Thread-safe. Buffers that were used last are reused first, to keep the touched memory
 * small. Address space is mapped piecewise as needed, because it may be limited too. When
 * all buffers are free, the pool returns its memory to the system, except least_pool.
 */
#pragma once

#include "common/memory.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace ckpt
{

inline constexpr std::size_t least_pool = 256u << 20; /* bytes, of an automatic pool */

/* Returns `granule`; throws Error unless it is a power of two from 4096 to 1 MiB. */
std::size_t require_granule(std::size_t granule);

class PagePool
{
  public:
    using Available = std::function<std::uint64_t()>; /* bytes */

    /* The pool has `bytes` / `granule` buffers of `granule` bytes, at least one. With
     * `bytes` 0 its size is automatic: it starts with least_pool bytes and grows while it is
     * at most a quarter of the memory that would be available without it. The pool is
     * smaller, or empty, if the system provides less memory. */
    PagePool(
        std::size_t bytes, std::size_t granule,
        Available available = [] { return available_memory(); });
    ~PagePool();
    PagePool(const PagePool &) = delete;
    PagePool &operator=(const PagePool &) = delete;

    std::size_t granule() const { return granule_; }

    /* Returns a buffer, or null. Null means that all are in use; then the pool writes to the
     * eventfd `waiting` when one is returned. If the pool is empty, no buffer is ever
     * returned. */
    std::byte *take(int waiting);
    void give_back(std::byte *place);
    /* The caller will close the eventfd; the pool must not use it any more. */
    void forget(int waiting);

  private:
    bool grow();
    void shrink();
    std::byte *new_place();
    bool map_piece();

    const std::size_t granule_;
    const Available available_;
    const std::size_t size_;          /* upper limit in bytes */
    const std::size_t piece_;         /* bytes of one mapping */
    const std::size_t first_room_;    /* bytes usable without checking the available memory */
    std::mutex mutex_;                /* guards the following members */
    std::vector<std::byte *> pieces_; /* mappings */
    std::size_t room_;                /* bytes that may be used now; grow() raises it */
    bool may_grow_ = true;            /* reset when all buffers are free */
    std::size_t used_ = 0;            /* buffers ever used, the first ones of the pieces */
    std::vector<std::byte *> free_;
    std::vector<int> waiting_;
};

} // namespace ckpt
