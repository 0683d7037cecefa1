/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream_dataset.cpp - a stream of bytes in the HDF5 group of its rank.
 */
#include "config.h"
#include "image/nodefile/stream_dataset.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "image/nodefile/hdf5_objects.hpp"

#include <algorithm>
#include <utility>

namespace ckpt
{

namespace names = node_file_names;

StreamDataset::StreamDataset(hid_t rank_group, std::string name, std::uint64_t bytes,
                             std::uint64_t chunk_size, Codec codec,
                             DriverFile &driver)
    : rank_group_(rank_group), name_(std::move(name)),
      chunk_size_(stream_chunk_size(bytes, chunk_size)), codec_(codec), driver_(driver),
      dataset_(create_chunked_dataset(rank_group, name_, bytes, chunk_size_, codec))
{
}

std::optional<ChunkRecord> StreamDataset::place(std::uint64_t index,
                                                const EncodedChunk &chunk)
{
    if (chunk.bytes.empty()) {
        return std::nullopt;
    }
    return chunks_.emplace_back(place_chunk(dataset_, index, chunk_size_, chunk, codec_,
                                            driver_,
                                            fmt::format("chunk {} of {}", index, name_)));
}

std::vector<ChunkRecord> StreamDataset::finish()
{
    std::ranges::sort(chunks_, {}, &ChunkRecord::index);
    CKPT_INVARIANT(std::ranges::adjacent_find(chunks_, {}, &ChunkRecord::index) == chunks_.end());
    write_records(rank_group_, (name_ + names::stream_chunks).c_str(), chunks_);
    dataset_.reset();
    return std::move(chunks_);
}

Hdf5Id open_stream(hid_t rank_group, const std::string &name, std::uint64_t &bytes,
                   std::vector<ChunkRecord> &chunks)
{
    bytes = 0;
    chunks.clear();
    if (!has_member(rank_group, name)) {
        return {};
    }
    Hdf5Id type(H5Tcopy(H5T_STD_U8LE));
    std::size_t size = 0;
    Hdf5Id dataset = open_array(rank_group, name.c_str(), type, SIZE_MAX, size);
    bytes = size;
    chunks = read_records<ChunkRecord>(rank_group, (name + names::stream_chunks).c_str(),
                                       SIZE_MAX);
    return dataset;
}

} // namespace ckpt
