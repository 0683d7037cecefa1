/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_table.hpp - a number for each peer of a rank. There may be a million
 * such tables, so this hash table takes only 64 bytes for two peers.
 */
#pragma once

#include "common/invariant.hpp"
#include "simulator/job_model.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace ckpt::simulator
{

class PeerTable
{
  public:
    /* Returns the peer's number, initially 0. */
    std::uint64_t &operator[](Rank peer)
    {
        if (4 * (used_ + 1) > 3 * slots_.size()) {
            grow();
        }
        Slot &slot = slots_[find(peer)];
        if (slot.peer == nobody) {
            slot.peer = peer;
            used_++;
        }
        return slot.number;
    }

    /* Returns null for a peer without a number. */
    const std::uint64_t *get(Rank peer) const
    {
        if (slots_.empty()) {
            return nullptr;
        }
        const Slot &slot = slots_[find(peer)];
        return slot.peer == nobody ? nullptr : &slot.number;
    }

    std::size_t size() const { return used_; }

    /* Calls visit(peer, number) for each peer, in a reproducible order. */
    template <typename Visit>
    void for_each(Visit visit) const
    {
        for (const Slot &slot : slots_) {
            if (slot.peer != nobody) {
                visit(slot.peer, slot.number);
            }
        }
    }

  private:
    static constexpr Rank nobody = std::numeric_limits<Rank>::max();
    struct Slot {
        Rank peer = nobody;
        std::uint64_t number = 0;
    };

    std::size_t find(Rank peer) const
    {
        std::size_t at = (peer * 0x9e3779b9U) & (slots_.size() - 1);
        while (slots_[at].peer != nobody && slots_[at].peer != peer) {
            at = (at + 1) & (slots_.size() - 1);
        }
        return at;
    }

    void grow()
    {
        std::vector<Slot> old(slots_.empty() ? 4 : 2 * slots_.size());
        std::swap(old, slots_);
        CKPT_INVARIANT(std::has_single_bit(slots_.size())); /* find() masks */
        for (const Slot &slot : old) {
            if (slot.peer != nobody) {
                slots_[find(slot.peer)] = slot;
            }
        }
    }

    std::vector<Slot> slots_; /* empty, or a power of two */
    std::uint32_t used_ = 0;
};

} // namespace ckpt::simulator
