/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_log_dataset.hpp - a rank's message log in the rank's HDF5 group: a dataset
 * of chunks with attributes, and the table of these chunks.
 *
 * All functions throw Error; the caller holds a Hdf5Lock.
 */
#pragma once

#include "image/model/rank_image.hpp"
#include "image/nodefile/stream_dataset.hpp"

#include <cstdint>
#include <optional>

namespace ckpt
{

/* Writes a log of at least one byte. */
class MessageLogDataset
{
  public:
    MessageLogDataset(hid_t rank_group, std::uint64_t bytes,
                      std::uint64_t chunk_size, Codec codec,
                      DriverFile &driver);

    /* Allocates space for a chunk; the caller writes it there. Returns nothing for a
     * chunk of zeros, which is not stored. */
    std::optional<ChunkRecord> place(std::uint64_t index, const EncodedChunk &chunk);

    /* Ends the log after the last chunk. Returns the description that a reader will
     * get. */
    MessageLog finish(std::uint64_t messages);

  private:
    StreamDataset stream_;
    std::uint64_t bytes_;
};

/* Returns the description of a rank's log, empty if the rank has none. The caller
 * must validate its chunks. */
MessageLog describe_message_log(hid_t rank_group);

} // namespace ckpt
