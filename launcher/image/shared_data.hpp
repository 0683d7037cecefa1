/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_data.hpp - which parts of shared memory have ever been written to. To read the others
 * would make the kernel give them memory.
 *
 * The page map of one process does not tell what others have written. The file behind the
 * memory does, if it can be opened.
 */
#pragma once

#include "image/page_ranges.hpp"
#include "image/rank_image.hpp"

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace ckpt
{

class SharedData
{
  public:
    /* Of that process: not of a copy of it, which has no descriptors. */
    SharedData(const RankImage &image, pid_t pid) : image_(image), pid_(pid) {}

    /* The pages of the shared region that may have content: all, if nothing better is known. */
    PageRanges of(const ckpt_region &region);

  private:
    struct Mapping {
        std::uint64_t start, end, offset;
    };
    const Mapping *mapping_of(const ckpt_region &region);
    int open_file(const ckpt_region &region, const Mapping &mapping) const;

    const RankImage &image_;
    pid_t pid_;
    bool is_read_ = false;
    std::vector<Mapping> mappings_; /* of the process, when the first is asked for */
};

} // namespace ckpt
