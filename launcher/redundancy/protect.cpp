/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * protect.cpp - one stripe after the other, slice by slice: read from all, combine, write.
 */
#include "config.h"
#include "redundancy/protect.hpp"

#include "common/checksum.hpp"
#include "common/error.hpp"
#include "common/new_file.hpp"
#include "redundancy/coder.hpp"
#include "redundancy/piece_range.hpp"
#include "redundancy/slice_buffers.hpp"

namespace ckpt::redundancy
{

namespace
{

class ParityWriter
{
  public:
    ParityWriter(const Group &group, std::size_t self,
                 const std::filesystem::path &directory,
                 const std::vector<BlockSource *> &members, WriteLimit *limit,
                 const std::atomic<bool> &cancelled)
        : group_(group), self_(static_cast<unsigned>(self)), members_(members),
          limit_(limit), cancelled_(cancelled),
          layout_(static_cast<unsigned>(group.members.size()), group.losses),
          coder_(layout_.data(), layout_.losses()), buffers_(layout_.data() + 1),
          index_(group, self),
          file_(directory / parity_file_name(group.members.at(self).host), "parity")
    {
    }

    void run()
    {
        require_pieces();
        for (unsigned place = 0; place < layout_.losses(); place++) {
            write_block(place);
        }
        const std::string index = index_.bytes();
        file_.write(std::as_bytes(std::span(index)), group_.losses * group_.chunk);
        file_.sync();
        file_.publish();
    }

  private:
    void require_pieces()
    {
        for (std::size_t i = 0; i < group_.members.size(); i++) {
            const Member &member = group_.members[i];
            if (i == self_) {
                continue;
            }
            if (members_.at(i) == nullptr) {
                fail("nobody says where the piece of {} is", member.host);
            }
            require_size(member, *members_[i]);
        }
    }

    /* All members that have data in the stripe have it in other places than this one. */
    void write_block(unsigned place)
    {
        const unsigned stripe = layout_.stripe_of_parity(self_, place);
        const Combination parity =
            coder_.parity(layout_.parity_in_stripe(self_, stripe).value());

        announce(stripe);
        for (const Slice &slice : slices_of(group_, group_.chunk)) {
            const auto result = buffers_.at(layout_.data(), slice.bytes);
            for (unsigned block = 0; block < layout_.data(); block++) {
                read(stripe, block, slice);
            }
            parity.apply(buffers_.pointers(layout_.data()), result);
            index_.checksum(stripe, layout_.block_of(self_, stripe), slice.number) =
                checksum_of(result);
            if (limit_ != nullptr) {
                limit_->wait(result.size(), cancelled_);
            }
            file_.write(result, place * group_.chunk + slice.offset);
        }
    }

    void announce(unsigned stripe)
    {
        for (unsigned block = 0; block < layout_.data(); block++) {
            const unsigned member = layout_.member_of(stripe, block);
            announce_chunk(group_, member, layout_.chunk_in_stripe(member, stripe).value(),
                           group_.chunk, *members_[member]);
        }
    }

    void read(unsigned stripe, unsigned block, const Slice &slice)
    {
        const unsigned member = layout_.member_of(stripe, block);
        const auto buffer = buffers_.at(block, slice.bytes);

        if (cancelled_) {
            fail("protecting a checkpoint was cancelled");
        }
        read_chunk(group_, member, layout_.chunk_in_stripe(member, stripe).value(), slice,
                   *members_[member], buffer);
        index_.checksum(stripe, block, slice.number) = checksum_of(buffer);
    }

    const Group &group_;
    const unsigned self_;
    const std::vector<BlockSource *> &members_;
    WriteLimit *limit_;
    const std::atomic<bool> &cancelled_;
    const Layout layout_;
    const Coder coder_;
    SliceBuffers buffers_; /* one for each block of data, one for the parity */
    ParityIndex index_;
    NewFile file_;
};

} // namespace

void write_parity(const Group &group, std::size_t self,
                  const std::filesystem::path &directory,
                  const std::vector<BlockSource *> &members, WriteLimit *limit,
                  const std::atomic<bool> &cancelled)
{
    ParityWriter(group, self, directory, members, limit, cancelled).run();
}

} // namespace ckpt::redundancy
