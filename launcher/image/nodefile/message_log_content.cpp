/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_log_content.cpp - reads a message log back and validates it
 * completely.
 */
#include "config.h"
#include "image/nodefile/message_log_content.hpp"

#include "common/error.hpp"
#include "common/parallel.hpp"
#include "image/nodefile/encoded_chunk.hpp"
#include "image/nodefile/message_log.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace ckpt
{

MessageLogContent::MessageLogContent(int fd, const ChunkFile &file,
                                     const MessageLog &log,
                                     std::uint64_t chunk_size,
                                     std::string whose, ChunkSeal seal)
    : fd_(fd), log_(log),
      chunk_size_(stream_chunk_size(log.bytes, chunk_size)),
      whose_(std::move(whose)), seal_(std::move(seal))
{
    require_sane(file);
}

std::string MessageLogContent::text_of(const ChunkRecord &chunk) const
{
    return fmt::format("{}, chunk {}", whose_, chunk.index);
}

void MessageLogContent::require_sane(const ChunkFile &file) const
{
    if (log_.messages > log_.bytes / sizeof(ckpt_logged_message) ||
        (log_.messages == 0) != (log_.bytes == 0)) {
        fail("{} has an impossible number of {} messages in {} bytes", whose_,
             log_.messages, log_.bytes);
    }
    const ChunkRecord *last = nullptr;
    for (const ChunkRecord &chunk : log_.chunks) {
        if (chunk.region != 0 || log_.bytes == 0 ||
            (last != nullptr && last->index >= chunk.index) ||
            !is_sane_chunk(chunk, log_.bytes, chunk_size_, file)) {
            fail("{} has an impossible record", text_of(chunk));
        }
        last = &chunk;
    }
}

void MessageLogContent::require_count(std::uint64_t messages) const
{
    if (messages != log_.messages) {
        fail("{} is damaged: it has {} messages, not {}", whose_, messages,
             log_.messages);
    }
}

void MessageLogContent::read(std::span<std::byte> destination,
                             unsigned threads) const
{
    if (destination.size() != log_.bytes) {
        fail("{} has {} bytes, not {}", whose_, log_.bytes, destination.size());
    }
    parallel_for(log_.chunks.size(), threads, [&](std::size_t i) {
        thread_local ChunkBuffers buffers;
        const ChunkRecord &chunk = log_.chunks[i];
        std::span content =
            decode_chunk(fd_, chunk, chunk_size_, buffers, text_of(chunk), seal_);
        std::span place = destination.subspan(chunk.index * chunk_size_);
        std::ranges::copy(content.first(std::min(content.size(), place.size())),
                          place.begin());
    });
    MessageLogCheck check(log_.bytes, whose_);
    check.add(destination);
    require_count(check.finish());
}

void MessageLogContent::verify(
    const std::function<void(std::uint64_t)> &progress) const
{
    ChunkBuffers buffers;
    MessageLogCheck check(log_.bytes, whose_);
    const std::vector<std::byte> zeros(chunk_size_);
    auto next = log_.chunks.begin();

    for (std::uint64_t at = 0; at < log_.bytes; at += chunk_size_) {
        std::span<const std::byte> content = zeros;
        if (next != log_.chunks.end() && next->index == at / chunk_size_) {
            content =
                decode_chunk(fd_, *next, chunk_size_, buffers, text_of(*next), seal_);
            progress(next->size);
            ++next;
        }
        check.add(content.first(std::min(chunk_size_, log_.bytes - at)));
    }
    require_count(check.finish());
}

} // namespace ckpt
