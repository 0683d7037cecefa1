/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_sharing.cpp - finds pages with identical content in the ranks of a node.
 */
#include "config.h"
#include "image/memory/page_sharing.hpp"

#include "common/invariant.hpp"

#include <algorithm>

namespace ckpt
{

namespace
{

/* The sample consists of pages whose first bytes have a certain hash. So all ranks choose
 * pages with the same content. */
constexpr std::size_t label_bytes = 64;
constexpr std::uint64_t one_of = 16;

/* If at least this part of the sampled pages are duplicates, hashing all pages pays
 * off. */
constexpr double worthwhile = 1.0 / 16;

bool is_in_sample(std::span<const std::byte> page)
{
    return XXH3_64bits(page.data(), label_bytes) % one_of == 0;
}

} // namespace

std::optional<PageSharing::Place> PageSharing::find(std::span<const std::byte> page,
                                                    const Place &here)
{
    CKPT_EXPECT(page.size() >= label_bytes);
    if (extent_ == Extent::sample && !is_in_sample(page)) {
        return std::nullopt;
    }
    const XXH128_hash_t hash = XXH3_128bits(page.data(), page.size());
    Part &part = parts_[hash.high64 % parts_.size()];
    std::lock_guard lock(part.mutex);
    part.found.pages++;
    auto [place, is_new] = part.places.emplace(hash, here);
    if (is_new) {
        return std::nullopt;
    }
    part.found.twice++;
    return extent_ == Extent::all ? std::optional(place->second) : std::nullopt;
}

SharingFound PageSharing::found() const
{
    SharingFound sum;
    for (Part &part : parts_) {
        std::lock_guard lock(part.mutex);
        sum.pages += part.found.pages;
        sum.twice += part.found.twice;
    }
    CKPT_INVARIANT(sum.twice <= sum.pages);
    return sum;
}

std::optional<PageSharing::Extent> SharingChoice::next() const
{
    if (mode_ == Switch::off) {
        return std::nullopt;
    }
    std::lock_guard lock(mutex_);
    return mode_ == Switch::on || is_worthwhile_ ? PageSharing::Extent::all
                                                 : PageSharing::Extent::sample;
}

void SharingChoice::learn(const SharingFound &found)
{
    CKPT_EXPECT(found.twice <= found.pages);
    std::lock_guard lock(mutex_);
    is_worthwhile_ = static_cast<double>(found.twice) >=
                     worthwhile * static_cast<double>(std::max<std::uint64_t>(1, found.pages));
}

} // namespace ckpt
