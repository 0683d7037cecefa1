/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_pool.hpp - a bounded number of places for copies of pages that a process is about
 * to write to before they are saved (Plank 1993, section 3.3).
 *
 * Thread-safe. Places that were used last are used first, so that no more memory is
 * touched than need be; and address space is taken in pieces as it is needed, as that may be
 * limited, too. When all have come back the system gets their memory, but for least_pool.
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

inline constexpr std::size_t least_pool = 256u << 20; /* bytes, of an automatic one */
inline constexpr std::size_t default_granule = 64u << 10;

/* Returns it; throws Error unless it is a power of two, 4096 to 1 MiB. */
std::size_t require_granule(std::size_t granule);

class PagePool
{
  public:
    using Available = std::function<std::uint64_t()>; /* bytes */

    /* As many places of `granule` bytes as fit into `bytes`, but at least one. With 0
     * bytes into least_pool, and then as long as the pool is at most a quarter of what
     * would be available without it. Fewer, or none, where the system gives no more. */
    PagePool(std::size_t bytes, std::size_t granule,
             Available available = [] { return available_memory(); });
    ~PagePool();
    PagePool(const PagePool &) = delete;
    PagePool &operator=(const PagePool &) = delete;

    std::size_t granule() const { return granule_; }

    /* A place; or null: all are taken, if there are any, and the eventfd `waiting` will be
     * written to when one comes back. */
    std::byte *take(int waiting);
    void give_back(std::byte *place);
    /* The eventfd will be closed. */
    void forget(int waiting);

  private:
    bool grow();
    void shrink();
    std::byte *new_place();
    bool map_piece();

    const std::size_t granule_;
    const Available available_;
    const std::size_t size_;       /* bytes, at most */
    const std::size_t piece_;      /* bytes of a piece */
    const std::size_t first_room_; /* that needs no question */
    std::mutex mutex_; /* of what follows */
    std::vector<std::byte *> pieces_; /* mapped */
    std::size_t room_; /* bytes that may be used; more if there is memory */
    bool may_grow_ = true; /* since all places were free */
    std::size_t used_ = 0; /* places that were ever taken: the first ones of the pieces */
    std::vector<std::byte *> free_;
    std::vector<int> waiting_;
};

} // namespace ckpt
