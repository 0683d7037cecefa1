/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream_dataset.hpp - a stream of bytes in the HDF5 group of its rank: a dataset of
 * chunks, and the table of these chunks.
 *
 * All functions throw Error; the caller holds a Hdf5Lock.
 */
#pragma once

#include "image/nodefile/chunked_dataset.hpp"
#include "image/model/rank_image.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ckpt
{

/* Writes a stream of at least one byte. */
class StreamDataset
{
  public:
    StreamDataset(hid_t rank_group, std::string name, std::uint64_t bytes,
                  std::uint64_t chunk_size, Codec codec, DriverFile &driver);

    const Hdf5Id &dataset() const { return dataset_; }

    /* Allocates space for a chunk, in any order; the caller writes it there. Returns
     * nothing for a chunk of zeros, which is not stored. */
    std::optional<ChunkRecord> place(std::uint64_t index, const EncodedChunk &chunk);

    /* Ends the stream after the last chunk. Returns the table of chunks, by index. */
    std::vector<ChunkRecord> finish();

  private:
    const hid_t rank_group_;
    const std::string name_;
    const std::uint64_t chunk_size_;
    const Codec codec_;
    DriverFile &driver_;
    Hdf5Id dataset_;
    std::vector<ChunkRecord> chunks_;
};

/* Opens the dataset; sets `bytes` to the length of the stream, and reads the table of its
 * chunks, which the caller must validate. A missing stream has length 0. */
Hdf5Id open_stream(hid_t rank_group, const std::string &name, std::uint64_t &bytes,
                   std::vector<ChunkRecord> &chunks);

} // namespace ckpt
