/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_objects.hpp - files that several ranks of a node share through
 * mappings: which ranks have them, and which rank saves which part.
 *
 * All ranks are stopped from the survey until the last part is read, so any of
 * them can save a part.
 */
#pragma once

#include "image/model/rank_image.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ckpt
{

class SharedObjects
{
  public:
    /* Records the rank's objects. The caller calls it for every rank before the
     * first distribute(). */
    void survey(const RankImage &image, int rank);

    /* Whether the rank shares an object with another rank. */
    bool shares(int rank) const;
    bool any() const;

    /*
     * Completes the description of a rank that is about to be saved: how many
     * ranks have each object, which content another rank saves, and which
     * mappings only look like files that no rank writes. Throws Error for an
     * object that cannot be restored.
     */
    void distribute(RankImage &image);

  private:
    using Key = std::pair<std::uint64_t, std::string>; /* inode, path */
    using Range = std::pair<std::uint64_t, std::uint64_t>;

    struct Object {
        bool mapped = false;    /* a rank writes to it through a mapping */
        std::uint64_t size = 0; /* as in ckpt_region, for shared memory */
        std::uint16_t mode = 0;
        std::set<int> ranks;
        std::vector<Range> saved; /* ranges that a rank saves */

        bool is_shared() const { return mapped && ranks.size() > 1; }
        std::uint16_t sharers() const
        {
            return static_cast<std::uint16_t>(ranks.size());
        }
    };

    Object *find(std::uint64_t inode, const char *path);
    void distribute_region(const RankImage &image, ckpt_region &region);

    std::map<Key, Object> objects_;
};

} // namespace ckpt
