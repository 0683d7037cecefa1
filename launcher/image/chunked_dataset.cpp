/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chunked_dataset.cpp - datasets of bytes, written chunk by chunk.
 */
#include "config.h"
#include "image/chunked_dataset.hpp"

#include "common/error.hpp"
#include "image/hdf5_filters.hpp"

namespace ckpt
{

namespace
{

/* A dataset of more chunks than this gets an index that grows with the chunks
 * that exist, so that a huge sparse region costs no more than its content. */
constexpr std::uint64_t fixed_index_chunks = 16384;

void add_filter(hid_t creation, Codec codec, const std::string &what)
{
    auto level = static_cast<unsigned>(codec.level);
    if (codec.kind == Codec::Kind::zstd) {
        require_hdf5(H5Pset_filter(creation, zstd_filter_id, H5Z_FLAG_MANDATORY, 1,
                                   &level),
                     what);
    } else if (codec.kind == Codec::Kind::lz4) {
        require_hdf5(H5Pset_filter(creation, lz4_filter_id, H5Z_FLAG_MANDATORY, 0,
                                   nullptr),
                     what);
    }
}

} // namespace

Hdf5Id create_chunked_dataset(hid_t parent, const std::string &name,
                              std::uint64_t length, std::uint64_t chunk_size,
                              Codec codec)
{
    std::string what = fmt::format("cannot make dataset {}", name);
    hsize_t size = length;
    hsize_t chunk = chunk_size;
    hsize_t limit = size / chunk > fixed_index_chunks ? H5S_UNLIMITED : size;
    Hdf5Id space(require_hdf5(H5Screate_simple(1, &size, &limit), what));
    Hdf5Id creation(require_hdf5(H5Pcreate(H5P_DATASET_CREATE), what));
    require_hdf5(H5Pset_obj_track_times(creation.get(), false), what);
    require_hdf5(H5Pset_chunk(creation.get(), 1, &chunk), what);
    add_filter(creation.get(), codec, what);
    /* No chunk cache: chunks do not pass through it. */
    Hdf5Id access(require_hdf5(H5Pcreate(H5P_DATASET_ACCESS), what));
    require_hdf5(H5Pset_chunk_cache(access.get(), 1, 0, 1.0), what);
    return Hdf5Id(
        require_hdf5(H5Dcreate2(parent, name.c_str(), H5T_STD_U8LE, space.get(),
                                H5P_DEFAULT, creation.get(), access.get()),
                     what));
}

ChunkRecord write_chunk(const Hdf5Id &dataset, std::uint64_t index,
                        std::uint64_t chunk_size, const EncodedChunk &chunk,
                        Codec codec, const DriverFile &driver,
                        const std::string &what)
{
    hsize_t offset = index * chunk_size;
    /* The filter is left out; without one there is none to be left out. */
    bool is_plain = chunk.coding == ChunkCoding::plain;
    std::uint32_t mask = is_plain && codec.kind != Codec::Kind::none ? 1 : 0;
    require_hdf5(H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, mask, &offset,
                                chunk.bytes.size(), chunk.bytes.data()),
                 fmt::format("cannot write {}", what));
    if (driver.last_buffer != chunk.bytes.data()) {
        fail("HDF5 did not write {} as it was given", what);
    }
    return {index,
            driver.last_offset,
            chunk.checksum,
            0,
            static_cast<std::uint32_t>(chunk.bytes.size()),
            chunk.coding,
            0};
}

} // namespace ckpt
