/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sealed_tables.cpp - encrypts and decrypts the parts of a file outside the extents.
 */
#include "config.h"
#include "image/nodefile/sealed_tables.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <functional>
#include <span>

namespace ckpt
{

namespace
{

constexpr std::uint64_t part_size = 1u << 20;

using Trailer = std::array<std::byte, FileSeal::overhead>;
using Pieces = std::vector<Extent>; /* ranges of the file */

std::uint64_t length_outside(std::uint64_t end, const std::vector<Extent> &extents)
{
    CKPT_EXPECT(end >= header_size);
    std::uint64_t length = end - header_size;
    for (const Extent &extent : extents) {
        length -= extent.length;
    }
    return length;
}

/* Returns the parts in order, each as the ranges of the file that it consists of. */
std::vector<Pieces> parts_of(std::uint64_t end, const std::vector<Extent> &extents)
{
    std::vector<Pieces> parts;
    std::uint64_t room = 0, position = header_size;
    auto add = [&](std::uint64_t to) {
        while (position < to) {
            if (room == 0) {
                parts.emplace_back();
                room = part_size;
            }
            const std::uint64_t length = std::min(room, to - position);
            parts.back().push_back({position, length});
            position += length;
            room -= length;
        }
    };
    for (const Extent &extent : extents) {
        add(extent.offset);
        position = extent.offset + extent.length;
    }
    add(end);
    return parts;
}

/* The associated data of each part: its number, the extents, and the header. */
class About
{
  public:
    About(const NodeFileHeader &header, const std::vector<Extent> &extents)
        : all_(fmt::format("version {} bytes {} extents {} seals {} ", header.version,
                           header.bytes, header.extent_count, header.seal_count))
    {
        unsigned char hash[crypto_hash_sha256_BYTES];
        crypto_hash_sha256(hash, reinterpret_cast<const unsigned char *>(extents.data()),
                           extents.size() * sizeof(Extent));
        all_.append(reinterpret_cast<const char *>(hash), sizeof hash);
    }

    std::string part(std::size_t i) const { return fmt::format("tables {} {}", i, all_); }

  private:
    std::string all_;
};

using ForPiece = std::function<void(const Extent &, std::span<std::byte>)>;

/* Calls `action` for each range of a part, with its bytes in the part. */
void for_pieces(const Pieces &pieces, std::span<std::byte> part, const ForPiece &action)
{
    std::size_t at = 0;
    for (const Extent &piece : pieces) {
        action(piece, part.subspan(at, piece.length));
        at += piece.length;
    }
    CKPT_INVARIANT(at == part.size());
}

std::size_t length_of(const Pieces &pieces)
{
    std::size_t length = 0;
    for (const Extent &piece : pieces) {
        length += piece.length;
    }
    return length;
}

void require_written(int error, const std::string &path)
{
    if (error != 0) {
        fail_errno(error, "cannot write {}", path);
    }
}

void require_read(int error, const std::string &path)
{
    if (error != 0) {
        fail_errno(error, "cannot read {}", path);
    }
}

} // namespace

std::uint64_t count_seals(std::uint64_t end, const std::vector<Extent> &extents)
{
    return (length_outside(end, extents) + part_size - 1) / part_size;
}

void write_sealed_tables(int fd, const NodeFileHeader &header,
                         const std::vector<Extent> &extents, const FileSeal &seal,
                         const TableMemory &tables, const std::string &path)
{
    const About about(header, extents);
    const std::vector<Pieces> parts = parts_of(header.seals_offset(), extents);
    std::vector<Trailer> trailers(parts.size());
    std::vector<std::byte> buffer(part_size);
    CKPT_INVARIANT(parts.size() == header.seal_count);

    for (std::size_t i = 0; i < parts.size(); i++) {
        const std::span part = std::span(buffer).first(length_of(parts[i]));
        for_pieces(parts[i], part, [&](const Extent &piece, std::span<std::byte> bytes) {
            tables.read(piece.offset, bytes);
        });
        seal.close(part, part, trailers[i], about.part(i));
        for_pieces(parts[i], part, [&](const Extent &piece, std::span<std::byte> bytes) {
            require_written(write_exactly(fd, bytes.data(), bytes.size(), piece.offset), path);
        });
    }
    require_written(write_exactly(fd, trailers.data(), trailers.size() * sizeof(Trailer),
                                  header.seals_offset()),
                    path);
}

TableMemory read_sealed_tables(int fd, const NodeFileHeader &header,
                               const std::vector<Extent> &extents, const FileSeal &seal,
                               const std::string &path)
{
    const About about(header, extents);
    const std::vector<Pieces> parts = parts_of(header.seals_offset(), extents);
    std::vector<Trailer> trailers(parts.size());
    std::vector<std::byte> buffer(part_size);
    TableMemory tables;
    CKPT_INVARIANT(parts.size() == header.seal_count);

    require_read(read_exactly(fd, trailers.data(), trailers.size() * sizeof(Trailer),
                              header.seals_offset()),
                 path);
    for (std::size_t i = 0; i < parts.size(); i++) {
        const std::span part = std::span(buffer).first(length_of(parts[i]));
        for_pieces(parts[i], part, [&](const Extent &piece, std::span<std::byte> bytes) {
            require_read(read_exactly(fd, bytes.data(), bytes.size(), piece.offset), path);
        });
        if (!seal.open(part, trailers[i], about.part(i))) {
            fail("{} was changed by somebody without the key: its tables are not what they were",
                 path);
        }
        for_pieces(parts[i], part, [&](const Extent &piece, std::span<std::byte> bytes) {
            tables.write(piece.offset, bytes);
        });
    }
    return tables;
}

} // namespace ckpt
