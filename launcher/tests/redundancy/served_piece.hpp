/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * served_piece.hpp - a server and its file of some blocks, for tests.
 */
#pragma once

#include "agent/blocks/block_server.hpp"
#include "agent/blocks/block_tags.hpp"
#include "agent/blocks/remote_source.hpp"
#include "tests/redundancy/piece_group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>

namespace ckpt::test
{

class ServedPiece : public testing::Test
{
  protected:
    struct Range {
        std::uint64_t offset, bytes;
    };

    ServedPiece()
        : nodes_(1, {3 * redundancy::block_bytes + 1234, 1}) {}

    const std::string &file() const { return nodes_.group.members[0].file; }
    const std::string &content() const { return nodes_.content(0); }

    std::string read(redundancy::BlockSource &source, std::uint64_t offset, std::size_t bytes)
    {
        std::string into(bytes, 'x');
        source.read(file(), offset, std::as_writable_bytes(std::span(into)));
        return into;
    }
    /* The same bytes of the file, with zeros after its end. */
    std::string expected(std::uint64_t offset, std::size_t bytes) const
    {
        std::string part = offset < content().size() ? content().substr(offset, bytes) : "";
        part.resize(bytes, '\0');
        return part;
    }

    /* Announces the ranges, then reads them in parts of this size. */
    void expect_announced(redundancy::RemoteSource &remote, std::span<const Range> ranges,
                          std::size_t part)
    {
        for (const auto &[offset, bytes] : ranges) {
            remote.announce(file(), offset, bytes);
        }
        for (const auto &[offset, bytes] : ranges) {
            for (std::uint64_t at = 0; at < bytes; at += part) {
                const std::size_t size = std::min<std::uint64_t>(part, bytes - at);
                ASSERT_TRUE(read(remote, offset + at, size) == expected(offset + at, size))
                    << part << ": " << size << " at " << offset + at;
            }
        }
    }

    PieceGroup nodes_;
    RejectedFrames rejected_;
    std::optional<redundancy::BlockServer> server_;
};

} // namespace ckpt::test
