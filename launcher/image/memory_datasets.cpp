/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_datasets.cpp - writes chunks into the datasets of their regions.
 */
#include "config.h"
#include "image/memory_datasets.hpp"

#include "common/error.hpp"
#include "image/hdf5_objects.hpp"

namespace ckpt
{

namespace
{

/* A dataset of more chunks than this gets an index that grows with the chunks
 * that exist, so that a huge sparse region costs no more than its content. */
constexpr std::uint64_t fixed_index_chunks = 16384;

/* Chunks come nearly in order: more open datasets than this are not needed. */
constexpr std::size_t most_open = 64;

} // namespace

MemoryDatasets::MemoryDatasets(hid_t rank_group,
                               const std::vector<ckpt_region> &regions,
                               Codec codec, const DriverFile &driver)
    : regions_(regions), codec_(codec), driver_(driver),
      group_(make_group(rank_group, node_file_names::memory)),
      exists_(regions.size())
{
}

Hdf5Id MemoryDatasets::create(const ckpt_region &region,
                              std::uint32_t chunk_size) const
{
    std::string name = node_file_names::memory_dataset(region);
    std::string what = fmt::format("cannot make dataset memory/{}", name);
    hsize_t length = region.end - region.start;
    hsize_t chunk = chunk_size;
    hsize_t limit =
        length / chunk > fixed_index_chunks ? H5S_UNLIMITED : length;
    Hdf5Id space(require_hdf5(H5Screate_simple(1, &length, &limit), what));
    Hdf5Id creation(require_hdf5(H5Pcreate(H5P_DATASET_CREATE), what));
    require_hdf5(H5Pset_obj_track_times(creation.get(), false), what);
    require_hdf5(H5Pset_chunk(creation.get(), 1, &chunk), what);
    if (codec_.kind == Codec::Kind::zstd) {
        auto level = static_cast<unsigned>(codec_.level);
        require_hdf5(H5Pset_filter(creation.get(), zstd_filter_id,
                                   H5Z_FLAG_MANDATORY, 1, &level),
                     what);
    }
    /* No chunk cache: chunks do not pass through it. */
    Hdf5Id access(require_hdf5(H5Pcreate(H5P_DATASET_ACCESS), what));
    require_hdf5(H5Pset_chunk_cache(access.get(), 1, 0, 1.0), what);
    return Hdf5Id(require_hdf5(
        H5Dcreate2(group_.get(), name.c_str(), H5T_STD_U8LE, space.get(),
                   H5P_DEFAULT, creation.get(), access.get()),
        what));
}

const Hdf5Id &MemoryDatasets::dataset_of(const ChunkJob &job)
{
    auto found = open_.find(job.region);
    if (found != open_.end()) {
        return found->second;
    }
    if (open_.size() >= most_open) {
        open_.clear();
    }
    const ckpt_region &region = regions_[job.region];
    Hdf5Id dataset;
    if (exists_[job.region]) {
        std::string name = node_file_names::memory_dataset(region);
        dataset = Hdf5Id(require_hdf5(
            H5Dopen2(group_.get(), name.c_str(), H5P_DEFAULT),
            fmt::format("cannot open dataset memory/{}", name)));
    } else {
        dataset = create(region, job.size);
        exists_[job.region] = true;
    }
    return open_.emplace(job.region, std::move(dataset)).first->second;
}

ChunkRecord MemoryDatasets::store(const StoredChunk &chunk)
{
    const ChunkJob &job = chunk.job;
    hsize_t offset = job.index * job.size;
    /* Without a filter there is none to be left out. */
    std::uint32_t mask = codec_.kind == Codec::Kind::zstd ? chunk.filter_mask
                                                          : 0;
    require_hdf5(H5Dwrite_chunk(dataset_of(job).get(), H5P_DEFAULT, mask,
                                &offset, chunk.bytes.size(),
                                chunk.bytes.data()),
                 fmt::format("cannot write chunk {} of region {:x}", job.index,
                             regions_[job.region].start));
    if (driver_.last_buffer != chunk.bytes.data()) {
        fail("HDF5 did not write chunk {} of region {:x} as it was given",
             job.index, regions_[job.region].start);
    }
    return {job.index,
            driver_.last_offset,
            chunk.checksum,
            job.region,
            static_cast<std::uint32_t>(chunk.bytes.size()),
            chunk.filter_mask,
            0};
}

} // namespace ckpt
