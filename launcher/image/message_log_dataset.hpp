/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_log_dataset.hpp - the message log in the group of its rank: a
 * dataset of chunks with attributes, and the table of these chunks.
 *
 * All throw Error; the caller holds a Hdf5Lock.
 */
#pragma once

#include "image/rank_image.hpp"
#include "image/stream_dataset.hpp"

#include <cstdint>
#include <optional>

namespace ckpt
{

/* Writes one, of at least one byte. */
class MessageLogDataset
{
  public:
    MessageLogDataset(hid_t rank_group, std::uint64_t bytes,
                      std::uint64_t chunk_size, Codec codec,
                      DriverFile &driver);

    /* Finds a place for a chunk, where the caller writes it. None: it is all zero. */
    std::optional<ChunkRecord> place(std::uint64_t index, const EncodedChunk &chunk);

    /* After the last chunk: what the reader finds. */
    MessageLog finish(std::uint64_t messages);

  private:
    StreamDataset stream_;
    std::uint64_t bytes_;
};

/* The description of a rank's log; an empty one if it has none. Its chunks are
 * yet to be checked. */
MessageLog describe_message_log(hid_t rank_group);

} // namespace ckpt
