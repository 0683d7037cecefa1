/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_sharing.hpp - finds pages with identical content in the ranks of a node, so that
 * each content is stored once.
 *
 * Pages are compared by a 128-bit XXH3 hash of exactly those bytes that go into the file.
 */
#pragma once

#include "common/switch.hpp"
#include "image/model/rank_image.hpp"

#include <xxhash.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace ckpt
{

/* How many of the examined pages are duplicates. */
struct SharingFound {
    std::uint64_t pages = 0;
    std::uint64_t twice = 0; /* pages with content that had been seen before */
};

/* For one file. Thread-safe. */
class PageSharing
{
  public:
    /* sample: only counts duplicates among one of 16 pages, chosen by content; nothing is
     * shared. */
    enum class Extent {
        all,
        sample
    };

    explicit PageSharing(Extent extent)
        : extent_(extent) {}

    Extent extent() const { return extent_; }

    /* Returns where a page with this content is stored already. If there is none, returns
     * nothing and records `here` as its place. Not for pages of zeros. */
    struct Place {
        std::uint64_t address;
        int rank;
    };
    std::optional<Place> find(std::span<const std::byte> page, const Place &here);

    SharingFound found() const;

  private:
    struct Hasher {
        std::size_t operator()(const XXH128_hash_t &hash) const { return hash.low64; }
    };
    struct Equal {
        bool operator()(const XXH128_hash_t &left, const XXH128_hash_t &right) const
        {
            return XXH128_isEqual(left, right) != 0;
        }
    };
    /* The table is divided by hash, so that threads rarely need the same part. */
    struct Part {
        std::mutex mutex; /* guards the following members */
        std::unordered_map<XXH128_hash_t, Place, Hasher, Equal> places;
        SharingFound found;
    };

    const Extent extent_;
    mutable std::array<Part, 64> parts_;
};

/*
 * Decides whether the pages of a checkpoint are shared. With Switch::automatic they are if
 * the previous checkpoint, sampled or complete, had enough duplicates. Thread-safe.
 */
class SharingChoice
{
  public:
    explicit SharingChoice(Switch mode)
        : mode_(mode) {}

    /* Returns the extent for the next file; nothing: pages are not examined. */
    std::optional<PageSharing::Extent> next() const;
    void learn(const SharingFound &found);

  private:
    const Switch mode_;
    mutable std::mutex mutex_; /* guards the following members */
    bool is_worthwhile_ = false;
};

} // namespace ckpt
