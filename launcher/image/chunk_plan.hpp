/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chunk_plan.hpp - decides what of a process's memory goes into the image.
 */
#pragma once

#include "image/change_tracker.hpp"
#include "image/rank_image.hpp"
#include "image/remote_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ckpt
{

/* One chunk to be saved. */
struct ChunkJob {
    std::uint64_t address; /* of its first byte in the process */
    std::uint64_t index;   /* in its region */
    std::uint32_t region;
    std::uint32_t size;    /* bytes of the chunk; zeros beyond the region's end */
    std::size_t first_run; /* pages that hold data: a slice of the plan's runs */
    std::size_t run_count;
    bool is_file; /* mapping of a file: may reach beyond the file's end */
    bool is_packed = false; /* no chunk of a region: its runs, one behind the other, are
                               a chunk of the pages */
    /* Of a mapping of a file: the address from which on it has nothing for it. */
    std::uint64_t end_of_file = UINT64_MAX;
};

struct ChunkPlan {
    std::vector<ChunkJob> jobs; /* by region, then index */
    std::vector<ckpt_range> runs;
    std::vector<std::uint32_t> by_reference; /* regions, rising */
    std::vector<PageRun> page_runs;          /* of a packed image; with their */
    std::uint64_t page_bytes = 0;            /* data */
};

/* Which regions: a frozen copy of a process holds private memory still, but not what
 * it has in common with others. */
enum class PlanPart {
    all,
    own,    /* private anonymous memory: may_be_packed() */
    common, /* all else: shared memory, and mappings of files, which may be written */
};

/* The pages with data of all regions that may_be_packed(). */
PageRanges data_of_packable(const RemoteMemory &memory, const RankImage &image);

/*
 * Plans the regions of the process. File mappings without a changed page are
 * saved by reference, if their path still leads to their file. Of private
 * memory only pages that hold data are read, of shared memory what has been written as far as
 * that is known (SharedData, with pid); changed file
 * mappings and the vDSO are read whole. If the image is packed, regions that
 * may_be_packed() get page runs. With `changes`, which have been marked, it has to be, and
 * only what has changed is read of them.
 */
ChunkPlan plan_chunks(const RemoteMemory &memory, const RankImage &image, pid_t pid,
                      std::uint64_t chunk_size, PlanPart part = PlanPart::all,
                      ChangeTracker *changes = nullptr);

/* Plans all content of an image, to be read from there, for one that is packed or not. */
ChunkPlan plan_image(const RankImage &image, std::uint64_t chunk_size, bool is_packed);

} // namespace ckpt
