/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * protect.cpp - computes parity, stripe by stripe and part by part: reads from all
 * members, combines, writes.
 *
 * A part is processed completely, including checksums, while it is in the processor's
 * cache.
 */
#include "config.h"
#include "redundancy/protect.hpp"

#include "common/checksum.hpp"
#include "common/error.hpp"
#include "common/files/new_file.hpp"
#include "common/invariant.hpp"
#include "image/store/checkpoint_files.hpp"
#include "redundancy/coder.hpp"
#include "redundancy/piece_range.hpp"
#include "redundancy/slice_buffers.hpp"

#include <span>
#include <vector>

namespace ckpt::redundancy
{

namespace
{

/* Checks that the other members have pieces as described by the group. Called before
 * memory and a file are allocated. */
void require_pieces(const Group &group, std::size_t self,
                    const std::vector<BlockSource *> &members)
{
    for (std::size_t i = 0; i < group.members.size(); i++) {
        const Member &member = group.members[i];
        if (i == self) {
            continue;
        }
        if (members.at(i) == nullptr) {
            fail("no node reports the piece of {}", member.host);
        }
        require_size(member, *members[i]);
    }
}

class ParityWriter
{
  public:
    ParityWriter(const Group &group, std::size_t self,
                 const std::filesystem::path &directory,
                 const std::vector<BlockSource *> &members, WriteLimit *limit,
                 const std::atomic<bool> &cancelled, const std::filesystem::path &room)
        : group_(group), self_(static_cast<unsigned>(self)), members_(members),
          limit_(limit), cancelled_(cancelled),
          layout_(static_cast<unsigned>(group.members.size()), group.losses),
          coder_(layout_.data(), layout_.losses()),
          buffers_(layout_.data() + 1, part_bytes),
          index_(group, self),
          file_(directory / parity_file_name(group.members.at(self).host), "parity", room)
    {
        CKPT_EXPECT(self < group.members.size() && members.size() == group.members.size());
    }

    void run()
    {
        for (unsigned place = 0; place < layout_.losses(); place++) {
            write_block(place);
        }
        const std::string index = index_.bytes();
        file_.write(std::as_bytes(std::span(index)), group_.losses * group_.chunk);
        file_.sync();
        file_.publish();
    }

  private:
    /* Computes and writes one parity block. The members with data in the stripe have
     * their chunks at different positions of their pieces. */
    void write_block(unsigned place)
    {
        CKPT_EXPECT(place < layout_.losses());
        const unsigned stripe = layout_.stripe_of_parity(self_, place);
        const Combination parity =
            coder_.parity(layout_.parity_in_stripe(self_, stripe).value());

        announce(stripe);
        for (const Slice &slice : slices_of(group_, group_.chunk)) {
            write_slice(place, stripe, parity, slice);
        }
    }

    void write_slice(unsigned place, unsigned stripe, const Combination &parity,
                     const Slice &slice)
    {
        const unsigned own = layout_.data();
        std::vector<Checksum> sums(own + 1); /* of data and parity blocks */

        for (const Slice &part : parts_of(slice)) {
            for (unsigned block = 0; block < own; block++) {
                sums[block].add(read(stripe, block, part));
            }
            const auto result = buffers_.at(own, part.bytes);
            parity.apply(buffers_.pointers(own), result);
            sums[own].add(result);
            write(result, place * group_.chunk + part.offset);
        }
        for (unsigned block = 0; block < own; block++) {
            index_.checksum(stripe, block, slice.number) = sums[block].value();
        }
        index_.checksum(stripe, layout_.block_of(self_, stripe), slice.number) =
            sums[own].value();
    }

    void write(std::span<const std::byte> part, std::uint64_t offset)
    {
        if (limit_ != nullptr) {
            limit_->wait(part.size(), cancelled_);
        }
        file_.write(part, offset);
    }

    void announce(unsigned stripe)
    {
        for (unsigned block = 0; block < layout_.data(); block++) {
            const unsigned member = layout_.member_of(stripe, block);
            announce_chunk(group_, member, layout_.chunk_in_stripe(member, stripe).value(),
                           group_.chunk, *members_[member]);
        }
    }

    std::span<const std::byte> read(unsigned stripe, unsigned block, const Slice &part)
    {
        const unsigned member = layout_.member_of(stripe, block);
        const auto buffer = buffers_.at(block, part.bytes);

        if (cancelled_) {
            fail("protecting a checkpoint was cancelled");
        }
        read_chunk(group_, member, layout_.chunk_in_stripe(member, stripe).value(), part,
                   *members_[member], buffer);
        return buffer;
    }

    const Group &group_;
    const unsigned self_;
    const std::vector<BlockSource *> &members_;
    WriteLimit *limit_;
    const std::atomic<bool> &cancelled_;
    const Layout layout_;
    const Coder coder_;
    SliceBuffers buffers_; /* one for each data block, one for the parity block */
    ParityIndex index_;
    NewFile file_;
};

} // namespace

void write_parity(const Group &group, std::size_t self,
                  const std::filesystem::path &directory,
                  const std::vector<BlockSource *> &members, WriteLimit *limit,
                  const std::atomic<bool> &cancelled, const std::filesystem::path &room)
{
    require_pieces(group, self, members);
    ParityWriter(group, self, directory, members, limit, cancelled, room).run();
}

} // namespace ckpt::redundancy
