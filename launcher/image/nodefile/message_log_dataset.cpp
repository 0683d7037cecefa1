/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_log_dataset.cpp - a rank's message log in the rank's HDF5 group.
 */
#include "config.h"
#include "image/nodefile/message_log_dataset.hpp"

#include "common/error.hpp"
#include "image/nodefile/hdf5_objects.hpp"

namespace ckpt
{

namespace names = node_file_names;

MessageLogDataset::MessageLogDataset(hid_t rank_group, std::uint64_t bytes,
                                     std::uint64_t chunk_size, Codec codec,
                                     DriverFile &driver)
    : stream_(rank_group, names::message_log, bytes, chunk_size, codec, driver),
      bytes_(bytes)
{
}

std::optional<ChunkRecord> MessageLogDataset::place(std::uint64_t index,
                                                    const EncodedChunk &chunk)
{
    return stream_.place(index, chunk);
}

MessageLog MessageLogDataset::finish(std::uint64_t messages)
{
    const Hdf5Id &dataset = stream_.dataset();
    write_number_attribute(dataset.get(), names::messages, messages);
    write_number_attribute(dataset.get(), names::bytes, bytes_);
    return {messages, bytes_, stream_.finish()};
}

MessageLog describe_message_log(hid_t rank_group)
{
    MessageLog log;
    std::uint64_t size = 0;
    Hdf5Id dataset = open_stream(rank_group, names::message_log, size, log.chunks);
    if (size == 0) {
        return log;
    }
    log.messages = read_number_attribute(dataset.get(), names::messages);
    log.bytes = read_number_attribute(dataset.get(), names::bytes);
    if (log.bytes != size) {
        fail("dataset {} has {} bytes, not {}", names::message_log, size,
             log.bytes);
    }
    return log;
}

} // namespace ckpt
