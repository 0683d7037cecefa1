/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * survivors.cpp - finds blocks, and verifies them with checksums.
 *
 * The checksums of a data block are in the index of each member that has parity of its
 * stripe; those of a parity block are in the index of its own member. If a stripe has
 * lost a block but has enough blocks left, at least one of these is parity, so its index
 * is available.
 */
#include "config.h"
#include "redundancy/survivors.hpp"

#include "common/checksum.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"
#include "image/store/checkpoint_files.hpp"
#include "redundancy/piece_range.hpp"

#include <fmt/ranges.h>

namespace ckpt::redundancy
{

namespace
{

constexpr std::size_t most_notes = 8;

} // namespace

Survivors::Survivors(const Group &group, std::size_t lost,
                     const std::vector<BlockSource *> &members)
    : group_(group),
      layout_(static_cast<unsigned>(group.members.size()), group.losses),
      survivors_(group.members.size())
{
    CKPT_EXPECT(lost < group.members.size() && members.size() == group.members.size());
    for (unsigned member = 0; member < layout_.members(); member++) {
        survivors_[member].source = member == lost ? nullptr : members.at(member);
        examine(member);
    }
}

void Survivors::examine(unsigned member)
{
    Survivor &survivor = survivors_[member];

    if (survivor.source == nullptr) {
        return;
    }
    try {
        require_size(group_.members[member], *survivor.source);
        survivor.has_piece = true;
    } catch (const Error &error) {
        note(member, error.what());
    }
    try {
        survivor.index = ParityIndex::load(group_, member, *survivor.source);
    } catch (const Error &error) {
        note(member, error.what());
    }
}

bool Survivors::has_block(unsigned stripe, unsigned block) const
{
    CKPT_EXPECT(block < layout_.members());
    const Survivor &survivor = survivors_[layout_.member_of(stripe, block)];

    return survivor.source != nullptr &&
           (block < layout_.data() ? survivor.has_piece : survivor.index.has_value());
}

std::vector<unsigned> Survivors::blocks_of(unsigned stripe) const
{
    std::vector<unsigned> blocks;

    for (unsigned block = 0; block < layout_.members(); block++) {
        if (has_block(stripe, block)) {
            blocks.push_back(block);
        }
    }
    return blocks;
}

void Survivors::announce(unsigned stripe, unsigned block, std::uint64_t bytes)
try {
    const unsigned member = layout_.member_of(stripe, block);
    CKPT_EXPECT(survivors_[member].source != nullptr);
    BlockSource &source = *survivors_[member].source;

    if (const auto chunk = layout_.chunk_in_stripe(member, stripe)) {
        announce_chunk(group_, member, *chunk, bytes, source);
    } else {
        source.announce(parity_file_name(group_.members[member].host),
                        layout_.parity_place(member, stripe) * group_.chunk, bytes);
    }
} catch (const Error &) {
    /* the read will fail, and report it */
}

void Survivors::read_block(unsigned member, unsigned stripe, const Slice &slice,
                           std::span<std::byte> into)
{
    CKPT_EXPECT(survivors_[member].source != nullptr);
    BlockSource &source = *survivors_[member].source;

    if (const auto chunk = layout_.chunk_in_stripe(member, stripe)) {
        read_chunk(group_, member, *chunk, slice, source, into);
    } else {
        source.read(parity_file_name(group_.members[member].host),
                    layout_.parity_place(member, stripe) * group_.chunk + slice.offset,
                    into);
    }
}

bool Survivors::read(unsigned stripe, unsigned block, const Slice &slice,
                     std::span<std::byte> into)
{
    const unsigned member = layout_.member_of(stripe, block);

    if (!has_block(stripe, block)) {
        return false;
    }
    try {
        read_block(member, stripe, slice, into);
    } catch (const Error &error) {
        note(member, error.what());
        survivors_[member].source = nullptr;
        return false;
    }
    if (!is_good(stripe, block, slice, into)) {
        note(member, fmt::format("its block of stripe {} is damaged at {}", stripe,
                                 slice.offset));
        return false;
    }
    return true;
}

bool Survivors::is_good(unsigned stripe, unsigned block, const Slice &slice,
                        std::span<const std::byte> bytes) const
{
    for (const Survivor &survivor : survivors_) {
        if (survivor.index && survivor.index->knows(stripe, block)) {
            return survivor.index->checksum(stripe, block, slice.number) ==
                   checksum_of(bytes);
        }
    }
    return false;
}

void Survivors::require_good(unsigned stripe, unsigned block, const Slice &slice,
                             std::span<const std::byte> bytes) const
{
    if (!is_good(stripe, block, slice, bytes)) {
        fail("blocks of stripe {} that are good do not fit one another at {}", stripe,
             slice.offset);
    }
}

void Survivors::note(unsigned member, const std::string &text)
{
    if (notes_.size() < most_notes) {
        notes_.push_back(fmt::format("{}: {}", group_.members[member].host, text));
    }
}

std::string Survivors::damage() const
{
    return notes_.empty() ? "" : fmt::format(" ({})", fmt::join(notes_, "; "));
}

} // namespace ckpt::redundancy
