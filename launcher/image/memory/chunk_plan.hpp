/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chunk_plan.hpp - decides which memory of a process goes into the image.
 */
#pragma once

#include "image/memory/change_tracker.hpp"
#include "image/model/rank_image.hpp"
#include "image/memory/remote_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ckpt
{

/* One chunk to be saved. */
struct ChunkJob {
    std::uint64_t address; /* of its first byte in the process */
    std::uint64_t index;   /* index of the chunk in its region */
    std::uint32_t region;
    std::uint32_t size;    /* bytes of the chunk; zeros beyond the region's end */
    std::size_t first_run; /* pages with data: a slice of the plan's runs */
    std::size_t run_count;
    bool is_file; /* maps a file; the chunk may extend beyond the file's end */
    /* The chunk belongs to no region: its runs, in sequence, form a chunk of the packed
     * pages. */
    bool is_packed = false;
    /* For a mapping of a file: the address at which the file ends. */
    std::uint64_t end_of_file = UINT64_MAX;
};

struct ChunkPlan {
    std::vector<ChunkJob> jobs; /* by region, then by index */
    std::vector<ckpt_range> runs;
    std::vector<std::uint32_t> by_reference; /* indices of regions, ascending */
    std::vector<PageRun> page_runs;          /* packed images only; the data runs */
    std::uint64_t page_bytes = 0;            /* have this many bytes in total */
};

/* Which regions to plan. A frozen copy of a process keeps its private memory, but not the
 * memory that the process shares with others. */
enum class PlanPart {
    all,
    own,    /* private anonymous memory: may_be_packed() */
    common, /* everything else: shared memory and file mappings, which others may write */
};

/* Returns the pages with data of all regions for which may_be_packed() holds. */
PageRanges data_of_packable(const RemoteMemory &memory, const RankImage &image);

/*
 * Plans the regions of the process. A file mapping without changed pages is saved by
 * reference, if its path still leads to the mapped file. Of private memory, only pages with
 * data are read. Of shared memory, only pages that were written are read, as far as that is
 * known (SharedData, with pid). Changed file mappings and the vDSO are read whole. If the
 * image is packed, regions for which may_be_packed() holds get page runs. `changes` requires
 * a packed image and a preceding mark(); only changed pages of packed regions are read then.
 */
ChunkPlan plan_chunks(const RemoteMemory &memory, const RankImage &image, pid_t pid,
                      std::uint64_t chunk_size, PlanPart part = PlanPart::all,
                      ChangeTracker *changes = nullptr);

/* Plans all content of an image as a source to be read; `is_packed` tells whether the image
 * is packed. */
ChunkPlan plan_image(const RankImage &image, std::uint64_t chunk_size, bool is_packed);

} // namespace ckpt
