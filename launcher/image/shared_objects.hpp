/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_objects.hpp - files that several ranks of a node share by way of their
 * memory: who has them, and who saves which part.
 *
 * All ranks stand still while this is found out and until the last part is
 * read, so it does not matter which of them saves a part.
 */
#pragma once

#include "image/rank_image.hpp"

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
    /* Notes what a rank has; for every rank before the first distribute(). */
    void survey(const RankImage &image, int rank);

    /* Whether the rank has anything in common with another one. */
    bool shares(int rank) const;
    bool any() const;

    /*
     * Completes the description of a rank that is about to be saved: how many
     * ranks have each object, whose content is saved with another rank, and
     * what only looks like a file that nobody writes to.
     * Throws Error for an object that could not be made again.
     */
    void distribute(RankImage &image);

  private:
    using Key = std::pair<std::uint64_t, std::string>; /* inode, path */
    using Range = std::pair<std::uint64_t, std::uint64_t>;

    struct Object {
        bool mapped = false;    /* someone writes to it by way of memory */
        std::uint64_t size = 0; /* as in ckpt_region of shared memory */
        std::uint16_t mode = 0;
        std::set<int> ranks;
        std::vector<Range> saved; /* bytes of the file */

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
