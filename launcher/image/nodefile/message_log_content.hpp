/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_log_content.hpp - the bytes of a message log in a node file; chunks and messages are
 * validated as they are read.
 */
#pragma once

#include "image/nodefile/encoded_chunk.hpp"
#include "image/model/rank_image.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace ckpt
{

/* All functions throw Error. */
class MessageLogContent
{
  public:
    /* fd: the node file; chunk_size: that of the node file; whose: the start of error texts;
     * seal: for the log's chunks. `fd` and `log` must outlive this object. Throws if the
     * description of the log is invalid. */
    MessageLogContent(int fd, const ChunkFile &file, const MessageLog &log,
                      std::uint64_t chunk_size, std::string whose, ChunkSeal seal = {});

    /* Copies the log to `destination`, which has the log's size and is all zero. */
    void read(std::span<std::byte> destination, unsigned threads) const;

    /* Reads the log chunk by chunk; calls `progress` with the size of each chunk. */
    void verify(const std::function<void(std::uint64_t)> &progress) const;

  private:
    void require_sane(const ChunkFile &file) const;
    void require_count(std::uint64_t messages) const;
    std::string text_of(const ChunkRecord &chunk) const;

    const int fd_;
    const MessageLog &log_;
    const std::uint64_t chunk_size_; /* of this log's dataset */
    const std::string whose_;
    const ChunkSeal seal_;
};

} // namespace ckpt
