/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * piece_copy.cpp - copies a piece, chunk by chunk, to a slower tier.
 */
#include "config.h"
#include "image/pieces/piece_copy.hpp"

#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/files/files.hpp"
#include "common/files/new_file.hpp"
#include "image/nodefile/encoded_chunk.hpp"
#include "image/store/job_directory.hpp"
#include "image/nodefile/node_file_reader.hpp"

#include <fmt/format.h>

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <span>
#include <vector>

namespace ckpt
{

namespace fs = std::filesystem;

namespace
{

/* Bytes per read between chunks. */
constexpr std::size_t block_size = 1u << 20;

/* Returns all chunks of a file, by ascending offset. */
std::vector<ChunkRecord> chunks_in_order(const NodeFileReader &reader)
{
    std::vector<ChunkRecord> all;
    for (int rank : reader.ranks()) {
        const RankImage &image = reader.rank(rank);
        for (const auto *chunks :
             {&image.chunks, &image.pages.chunks, &image.message_log.chunks}) {
            all.insert(all.end(), chunks->begin(), chunks->end());
        }
    }
    std::ranges::sort(all, {}, &ChunkRecord::offset);
    return all;
}

/* Reads a file from start to end, and verifies the chunks' checksums. */
class OrderedReader
{
  public:
    using Take = std::function<void(std::span<const std::byte>, std::uint64_t offset)>;

    OrderedReader(const fs::path &path, const Piece &piece)
        : path_(path), bytes_(piece.bytes), fd_(open_file(path, O_RDONLY, 0, "piece")),
          buffer_(block_size)
    {
        const NodeFileReader reader(
            path, {.threads = 1, .checksum = piece.checksum, .salt = piece.salt});
        if (reader.bytes() != piece.bytes) {
            fail("{} has {} bytes, not {}", path.string(), reader.bytes(), piece.bytes);
        }
        chunks_ = chunks_in_order(reader);
    }

    void run(const Take &take)
    {
        std::uint64_t position = 0;
        for (const ChunkRecord &chunk : chunks_) {
            read_plain(position, chunk.offset, take);
            take(read_stored_chunk(
                     fd_.get(), chunk, buffer_,
                     fmt::format("{}: chunk at {}", path_.string(), chunk.offset)),
                 chunk.offset);
            position = chunk.offset + chunk.size;
        }
        read_plain(position, bytes_, take);
    }

  private:
    void read_plain(std::uint64_t position, std::uint64_t end, const Take &take)
    {
        while (position < end) {
            const std::span part =
                std::span(buffer_).first(std::min<std::uint64_t>(end - position, block_size));
            if (int error = read_exactly(fd_.get(), part.data(), part.size(), position)) {
                fail_errno(error, "cannot read {}", path_.string());
            }
            take(part, position);
            position += part.size();
        }
    }

    const fs::path path_;
    const std::uint64_t bytes_;
    Fd fd_;
    std::vector<ChunkRecord> chunks_;
    std::vector<std::byte> buffer_;
};

} // namespace

void PieceCopy::run()
{
    OrderedReader source(from_ / piece_.file, piece_);
    make_checkpoint_directory(to_);
    NewFile copy(to_ / piece_.file, "piece");
    source.run([&](std::span<const std::byte> part, std::uint64_t offset) {
        limit_.wait(part.size(), cancelled_);
        if (cancelled_) {
            fail("copying was cancelled");
        }
        copy.write(part, offset);
    });
    fault_kill("agent-during-flush");
    if (fault_strikes("flush-enospc")) {
        fail_errno(ENOSPC, "cannot write {}", copy.temporary().string());
    }
    copy.sync();
    copy.leave_cache();
    /* Verifies the tables of the copy against the manifest. */
    (void)NodeFileReader(copy.temporary(),
                         {.threads = 1, .checksum = piece_.checksum, .salt = piece_.salt});
    copy.publish();
}

} // namespace ckpt
