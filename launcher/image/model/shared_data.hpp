/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_data.hpp - finds the parts of shared memory that were ever written. If the agent read
 * the other parts, the kernel would allocate memory there.
 *
 * The page map of one process does not show what other processes have written. The file behind
 * the memory does, if it can be opened.
 */
#pragma once

#include "image/model/page_ranges.hpp"
#include "image/model/rank_image.hpp"

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace ckpt
{

class SharedData
{
  public:
    /* pid: the process itself, not a copy of it, because a copy has no descriptors. */
    SharedData(const RankImage &image, pid_t pid)
        : image_(image), pid_(pid) {}

    /* Returns the pages of the shared region that may have content; all pages if unknown. */
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
    std::vector<Mapping> mappings_; /* of the process; read at the first call of of() */
};

} // namespace ckpt
