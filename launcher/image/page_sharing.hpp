/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_sharing.hpp - finds pages with the same content in the ranks of a node, so that
 * they are stored once.
 *
 * Of a page 128 bits of hash (XXH3) are kept, of exactly those bytes that go into the
 * file.
 */
#pragma once

#include "common/switch.hpp"
#include "image/rank_image.hpp"

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

/* Pages that are alike, of those that were looked at. */
struct SharingFound {
    std::uint64_t pages = 0;
    std::uint64_t twice = 0; /* that had been seen before */
};

/* Of one file. Thread-safe. */
class PageSharing
{
  public:
    /* sample: of 16 pages one, chosen by its content, is looked at, and nothing is
     * changed. */
    enum class Extent { all, sample };

    explicit PageSharing(Extent extent) : extent_(extent) {}

    Extent extent() const { return extent_; }

    /* Where a page with this content is stored, if there is one before it; else that is
     * here, from now on. Not for pages of zeros. */
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
    /* Threads seldom want the same part. */
    struct Part {
        std::mutex mutex; /* of what follows */
        std::unordered_map<XXH128_hash_t, Place, Hasher, Equal> places;
        SharingFound found;
    };

    const Extent extent_;
    mutable std::array<Part, 64> parts_;
};

/*
 * Whether the pages of a checkpoint are shared; with automatic if the one before, in which
 * no more than a sample was looked at, or all, had enough that would be. Thread-safe.
 */
class SharingChoice
{
  public:
    explicit SharingChoice(Switch mode) : mode_(mode) {}

    /* Of the next file; none: nothing is looked at. */
    std::optional<PageSharing::Extent> next() const;
    void learn(const SharingFound &found);

  private:
    const Switch mode_;
    mutable std::mutex mutex_; /* of what follows */
    bool is_worthwhile_ = false;
};

} // namespace ckpt
