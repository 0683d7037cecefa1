/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * survivors.hpp - the remaining blocks of a group; each slice is verified before it is
 * used.
 */
#pragma once

#include "redundancy/block_source.hpp"
#include "redundancy/group.hpp"
#include "redundancy/layout.hpp"
#include "redundancy/parity_file.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ckpt::redundancy
{

class Survivors
{
  public:
    /* Examines the files of all members except `lost`; a member with a null source has
     * none. Group and sources must outlive this object. */
    Survivors(const Group &group, std::size_t lost,
              const std::vector<BlockSource *> &members);

    /* Returns the blocks of the stripe that appear to be available, data blocks first. */
    std::vector<unsigned> blocks_of(unsigned stripe) const;

    /* Announces that the first `bytes` bytes of the block will be read, slice by slice. */
    void announce(unsigned stripe, unsigned block, std::uint64_t bytes);
    /* Returns false if the slice is damaged or unreadable. A member that fails one read
     * counts as lost. */
    bool read(unsigned stripe, unsigned block, const Slice &slice,
              std::span<std::byte> into);

    /* Throws Error unless the bytes match the checksum of the slice. */
    void require_good(unsigned stripe, unsigned block, const Slice &slice,
                      std::span<const std::byte> bytes) const;

    /* Describes the damage found, in a form that follows a sentence; may be empty. */
    std::string damage() const;

  private:
    struct Survivor {
        BlockSource *source = nullptr; /* null: lost */
        bool has_piece = false;
        std::optional<ParityIndex> index; /* if it has its parity file */
    };

    void examine(unsigned member);
    bool has_block(unsigned stripe, unsigned block) const;
    bool is_good(unsigned stripe, unsigned block, const Slice &slice,
                 std::span<const std::byte> bytes) const;
    void read_block(unsigned member, unsigned stripe, const Slice &slice,
                    std::span<std::byte> into);
    void note(unsigned member, const std::string &text);

    const Group &group_;
    const Layout layout_;
    std::vector<Survivor> survivors_; /* one for each member */
    std::vector<std::string> notes_;
};

} // namespace ckpt::redundancy
