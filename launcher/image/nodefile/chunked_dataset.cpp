/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chunked_dataset.cpp - datasets of bytes, written chunk by chunk.
 */
#include "config.h"
#include "image/nodefile/chunked_dataset.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "image/hdf5/hdf5_filters.hpp"

#include <vector>

namespace ckpt
{

namespace
{

/* Datasets with more chunks than this get an index that grows with the stored
 * chunks, so that a huge sparse region costs no more than its content. */
constexpr std::uint64_t fixed_index_chunks = 16384;

/* In the order of application; at most one filter is applied to each chunk. */
std::vector<ChunkCoding> filters_of(Codec codec)
{
    switch (codec.kind) {
    case Codec::Kind::none:
        return {};
    case Codec::Kind::lz4:
        return {ChunkCoding::lz4};
    case Codec::Kind::zstd:
        return {ChunkCoding::zstd};
    default:
        return {ChunkCoding::zstd, ChunkCoding::lz4};
    }
}

void add_filters(hid_t creation, Codec codec, const std::string &what)
{
    const auto level = static_cast<unsigned>(codec.level);
    for (ChunkCoding coding : filters_of(codec)) {
        bool is_zstd = coding == ChunkCoding::zstd;
        require_hdf5(H5Pset_filter(creation, is_zstd ? zstd_filter_id : lz4_filter_id,
                                   H5Z_FLAG_MANDATORY, is_zstd ? 1 : 0, &level),
                     what);
    }
}

/* Returns the mask of filters that were not applied to the chunk. */
std::uint32_t filter_mask(Codec codec, ChunkCoding coding)
{
    std::uint32_t mask = 0, bit = 1;
    for (ChunkCoding filter : filters_of(codec)) {
        mask |= filter == coding ? 0 : bit;
        bit <<= 1;
    }
    return mask;
}

} // namespace

Hdf5Id create_chunked_dataset(hid_t parent, const std::string &name,
                              std::uint64_t length, std::uint64_t chunk_size,
                              Codec codec)
{
    CKPT_EXPECT(length > 0 && chunk_size > 0);
    std::string what = fmt::format("cannot make dataset {}", name);
    hsize_t size = length;
    hsize_t chunk = chunk_size;
    hsize_t limit = size / chunk > fixed_index_chunks ? H5S_UNLIMITED : size;
    Hdf5Id space(require_hdf5(H5Screate_simple(1, &size, &limit), what));
    Hdf5Id creation(require_hdf5(H5Pcreate(H5P_DATASET_CREATE), what));
    require_hdf5(H5Pset_obj_track_times(creation.get(), false), what);
    require_hdf5(H5Pset_chunk(creation.get(), 1, &chunk), what);
    add_filters(creation.get(), codec, what);
    /* No chunk cache: chunk data does not go through HDF5. */
    Hdf5Id access(require_hdf5(H5Pcreate(H5P_DATASET_ACCESS), what));
    require_hdf5(H5Pset_chunk_cache(access.get(), 1, 0, 1.0), what);
    return Hdf5Id(
        require_hdf5(H5Dcreate2(parent, name.c_str(), H5T_STD_U8LE, space.get(),
                                H5P_DEFAULT, creation.get(), access.get()),
                     what));
}

ChunkRecord place_chunk(const Hdf5Id &dataset, std::uint64_t index,
                        std::uint64_t chunk_size, const EncodedChunk &chunk,
                        Codec codec, DriverFile &driver, const std::string &what)
{
    CKPT_EXPECT(!chunk.bytes.empty() && chunk.bytes.size() <= UINT32_MAX);
    hsize_t offset = index * chunk_size;
    std::uint32_t mask = filter_mask(codec, chunk.coding);
    driver.to_place = chunk.bytes.data();
    require_hdf5(H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, mask, &offset,
                                chunk.bytes.size(), chunk.bytes.data()),
                 fmt::format("cannot write {}", what));
    if (driver.to_place != nullptr) {
        fail("HDF5 did not take {} as it was given", what);
    }
    return {index,
            driver.placed_at,
            chunk.checksum,
            0,
            static_cast<std::uint32_t>(chunk.bytes.size()),
            chunk.coding,
            0};
}

} // namespace ckpt
