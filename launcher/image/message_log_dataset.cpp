/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_log_dataset.cpp - the message log in the group of its rank.
 */
#include "config.h"
#include "image/message_log_dataset.hpp"

#include "common/error.hpp"
#include "image/hdf5_objects.hpp"

namespace ckpt
{

namespace names = node_file_names;

MessageLogDataset::MessageLogDataset(hid_t rank_group, std::uint64_t bytes,
                                     std::uint64_t chunk_size, Codec codec,
                                     const DriverFile &driver)
    : rank_group_(rank_group),
      chunk_size_(message_log_chunk_size(bytes, chunk_size)), codec_(codec),
      driver_(driver),
      dataset_(create_chunked_dataset(rank_group, names::message_log, bytes,
                                      chunk_size_, codec))
{
    log_.bytes = bytes;
}

void MessageLogDataset::store(std::uint64_t index, const EncodedChunk &chunk)
{
    if (!chunk.bytes.empty()) {
        log_.chunks.push_back(
            write_chunk(dataset_, index, chunk_size_, chunk, codec_, driver_,
                        fmt::format("chunk {} of the message log", index)));
    }
}

MessageLog MessageLogDataset::finish(std::uint64_t messages)
{
    log_.messages = messages;
    write_number_attribute(dataset_.get(), names::messages, log_.messages);
    write_number_attribute(dataset_.get(), names::bytes, log_.bytes);
    write_records(rank_group_, names::message_log_chunks, log_.chunks);
    dataset_.reset();
    return std::move(log_);
}

MessageLog describe_message_log(hid_t rank_group)
{
    MessageLog log;
    if (!has_member(rank_group, names::message_log)) {
        return log;
    }
    Hdf5Id type(H5Tcopy(H5T_STD_U8LE));
    std::size_t size = 0;
    Hdf5Id dataset =
        open_array(rank_group, names::message_log, type, SIZE_MAX, size);
    log.messages = read_number_attribute(dataset.get(), names::messages);
    log.bytes = read_number_attribute(dataset.get(), names::bytes);
    if (log.bytes != size) {
        fail("dataset {} has {} bytes, not {}", names::message_log, size,
             log.bytes);
    }
    log.chunks = read_records<ChunkRecord>(rank_group,
                                           names::message_log_chunks, SIZE_MAX);
    return log;
}

} // namespace ckpt
