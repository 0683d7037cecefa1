/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * survivors.hpp - what is left of a group: blocks of its stripes, each slice of which is
 * looked at before it is used.
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
    /* Finds out what the members but for `lost` have; whose source is null has nothing.
     * Group and sources must live longer. */
    Survivors(const Group &group, std::size_t lost,
              const std::vector<BlockSource *> &members);

    /* Blocks of the stripe that are there, as far as can be told: those of data first. */
    std::vector<unsigned> blocks_of(unsigned stripe) const;

    /* So many bytes of the block will be read, slice by slice. */
    void announce(unsigned stripe, unsigned block, std::uint64_t bytes);
    /* False if the slice is damaged or cannot be read. A member that cannot be read once is
     * lost. */
    bool read(unsigned stripe, unsigned block, const Slice &slice,
              std::span<std::byte> into);

    /* Throws Error unless this is what the slice was. */
    void require_good(unsigned stripe, unsigned block, const Slice &slice,
                      std::span<const std::byte> bytes) const;

    /* What was not as it should be, to follow a sentence; may be empty. */
    std::string damage() const;

  private:
    struct Survivor {
        BlockSource *source = nullptr; /* null: lost */
        bool has_piece = false;
        std::optional<ParityIndex> index; /* if it has its parity */
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
