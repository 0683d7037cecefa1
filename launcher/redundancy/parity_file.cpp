/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * parity_file.cpp - the index after the parity blocks.
 */
#include "config.h"
#include "redundancy/parity_file.hpp"

#include "common/checksum.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"
#include "image/store/checkpoint_files.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <span>

namespace ckpt::redundancy
{

namespace
{

/* Maximum length of the index without its checksums; far more than the JSON of the
 * largest group. */
constexpr std::uint64_t longest_text = 1u << 20;

std::uint64_t slice_count(const Group &group)
{
    return (group.chunk + slice_bytes - 1) / slice_bytes;
}

std::uint64_t blocks_end(const Group &group)
{
    return group.losses * group.chunk;
}

std::size_t checksum_count(const Group &group)
{
    return group.losses * (group.chunks() + std::size_t{1}) * slice_count(group);
}

void append(std::string &bytes, const void *data, std::size_t size)
{
    bytes.append(static_cast<const char *>(data), size);
}

/* Returns the checksum of the index without its last field, the checksum itself. */
std::uint64_t checksum_of_index(std::string_view index)
{
    CKPT_EXPECT(index.size() >= sizeof(ParityTail));
    return checksum_of(
        std::as_bytes(std::span(index)).first(index.size() - sizeof(std::uint64_t)));
}

ParityTail tail_of(std::string_view bytes)
{
    CKPT_EXPECT(bytes.size() >= sizeof(ParityTail));
    ParityTail tail;

    std::memcpy(&tail, bytes.data() + bytes.size() - sizeof tail, sizeof tail);
    return tail;
}

std::string read_text(BlockSource &source, const std::string &file, std::uint64_t offset,
                      std::uint64_t bytes)
{
    std::string text(bytes, '\0');

    source.read(file, offset, std::as_writable_bytes(std::span(text)));
    return text;
}

/* Returns the bytes of the index, if the file has the right length. */
std::string read_index(const Group &group, std::size_t checksums, const std::string &file,
                       BlockSource &source)
{
    const std::uint64_t size = source.size(file);
    const std::uint64_t begin = blocks_end(group);
    const std::uint64_t fixed = checksums * sizeof(std::uint64_t) + sizeof(ParityTail);

    if (size < begin + fixed || size - begin - fixed > longest_text) {
        fail("{} has {} bytes, and cannot be what the group needs", file, size);
    }
    return read_text(source, file, begin, size - begin);
}

} // namespace

std::vector<Slice> slices_of(const Group &group, std::uint64_t bytes)
{
    CKPT_EXPECT(bytes <= group.chunk);
    std::vector<Slice> slices;

    for (std::uint64_t at = 0; at < bytes; at += slice_bytes) {
        slices.push_back({at / slice_bytes, at, std::min(slice_bytes, group.chunk - at)});
    }
    return slices;
}

std::vector<Slice> parts_of(const Slice &slice)
{
    std::vector<Slice> parts;

    for (std::uint64_t at = 0; at < slice.bytes; at += part_bytes) {
        parts.push_back({slice.number, slice.offset + at,
                         std::min(part_bytes, slice.bytes - at)});
    }
    return parts;
}

ParityIndex::ParityIndex(const Group &group, std::size_t member)
    : group_(&group), member_(static_cast<unsigned>(member)),
      layout_(static_cast<unsigned>(group.members.size()), group.losses),
      checksums_(checksum_count(group))
{
    CKPT_EXPECT(member < group.members.size());
}

bool ParityIndex::knows(unsigned stripe, unsigned block) const
{
    return layout_.parity_in_stripe(member_, stripe) &&
           (block < layout_.data() || block == layout_.block_of(member_, stripe));
}

/* The member's own block follows the data blocks. */
std::size_t ParityIndex::place(unsigned stripe, unsigned block, std::uint64_t slice) const
{
    CKPT_EXPECT(slice < slice_count(*group_));
    CKPT_EXPECT(knows(stripe, block));
    const unsigned blocks = layout_.data() + 1;
    const std::size_t before = layout_.parity_place(member_, stripe) * blocks +
                               std::min(block, layout_.data());

    return before * slice_count(*group_) + slice;
}

std::uint64_t &ParityIndex::checksum(unsigned stripe, unsigned block, std::uint64_t slice)
{
    return checksums_.at(place(stripe, block, slice));
}

std::uint64_t ParityIndex::checksum(unsigned stripe, unsigned block,
                                    std::uint64_t slice) const
{
    return checksums_.at(place(stripe, block, slice));
}

std::string ParityIndex::bytes() const
{
    static_assert(offsetof(ParityTail, checksum) + sizeof(ParityTail::checksum) ==
                  sizeof(ParityTail));
    static_assert(std::has_unique_object_representations_v<ParityTail>);
    const std::string text = nlohmann::json(*group_).dump();
    ParityTail tail{parity_magic, parity_version, member_, checksums_.size(), text.size(), 0};
    std::string bytes;

    append(bytes, checksums_.data(), checksums_.size() * sizeof(std::uint64_t));
    bytes += text;
    append(bytes, &tail, sizeof tail);
    tail.checksum = checksum_of_index(bytes);
    std::memcpy(bytes.data() + bytes.size() - sizeof tail.checksum, &tail.checksum,
                sizeof tail.checksum);
    return bytes;
}

ParityIndex ParityIndex::load(const Group &group, std::size_t member, BlockSource &source)
{
    const std::string file = parity_file_name(group.members.at(member).host);
    /* Checked before memory is allocated, because a group may claim any length. */
    const std::string bytes = read_index(group, checksum_count(group), file, source);
    ParityIndex index(group, member);
    const ParityTail tail = tail_of(bytes);

    if (tail.magic != parity_magic) {
        fail("{} is not a parity file", file);
    }
    if (tail.version != parity_version) {
        fail("{} has version {}, not {}", file, tail.version, parity_version);
    }
    if (tail.checksum != checksum_of_index(bytes)) {
        fail("{} has an index that is damaged", file);
    }
    const auto checksums = std::as_writable_bytes(std::span(index.checksums_));
    std::ranges::copy(std::as_bytes(std::span(bytes)).first(checksums.size()),
                      checksums.begin());
    if (index.bytes() != bytes) {
        fail("{} is of another group or another member", file);
    }
    return index;
}

} // namespace ckpt::redundancy
