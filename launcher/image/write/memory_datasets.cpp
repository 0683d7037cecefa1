/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_datasets.cpp - places chunks in the datasets of their regions.
 */
#include "config.h"
#include "image/write/memory_datasets.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "image/nodefile/chunked_dataset.hpp"
#include "image/nodefile/hdf5_objects.hpp"

namespace ckpt
{

namespace
{

/* Limit of open datasets. Chunks come nearly in order, so more are not
 * needed. */
constexpr std::size_t most_open = 64;

} // namespace

MemoryDatasets::MemoryDatasets(hid_t rank_group,
                               const std::vector<ckpt_region> &regions,
                               Codec codec, DriverFile &driver)
    : regions_(regions), codec_(codec), driver_(driver),
      group_(make_group(rank_group, node_file_names::memory)),
      exists_(regions.size())
{
}

const Hdf5Id &MemoryDatasets::dataset_of(const ChunkJob &job)
{
    CKPT_EXPECT(job.region < regions_.size() && !job.is_packed);
    auto found = open_.find(job.region);
    if (found != open_.end()) {
        return found->second;
    }
    if (open_.size() >= most_open) {
        open_.clear();
    }
    CKPT_INVARIANT(open_.size() < most_open);
    const ckpt_region &region = regions_[job.region];
    Hdf5Id dataset;
    if (exists_[job.region]) {
        std::string name = node_file_names::memory_dataset(region);
        dataset = Hdf5Id(require_hdf5(
            H5Dopen2(group_.get(), name.c_str(), H5P_DEFAULT),
            fmt::format("cannot open dataset memory/{}", name)));
    } else {
        dataset = create_chunked_dataset(
            group_.get(), node_file_names::memory_dataset(region),
            region.end - region.start, job.size, codec_);
        exists_[job.region] = true;
    }
    return open_.emplace(job.region, std::move(dataset)).first->second;
}

ChunkRecord MemoryDatasets::place(const StoredChunk &chunk)
{
    const ChunkJob &job = chunk.job;
    ChunkRecord record = place_chunk(
        dataset_of(job), job.index, job.size, chunk.encoded, codec_, driver_,
        fmt::format("chunk {} of region {:x}", job.index,
                    regions_[job.region].start));
    record.region = job.region;
    return record;
}

} // namespace ckpt
