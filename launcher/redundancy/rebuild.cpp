/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rebuild.cpp - rebuilds a piece, chunk by chunk and slice by slice, from the required
 * number of good blocks of each stripe.
 */
#include "config.h"
#include "redundancy/rebuild.hpp"

#include "common/error.hpp"
#include "common/files/new_file.hpp"
#include "common/invariant.hpp"
#include "redundancy/coder.hpp"
#include "redundancy/piece_range.hpp"
#include "redundancy/slice_buffers.hpp"
#include "redundancy/survivors.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace ckpt::redundancy
{

namespace
{

class Rebuilder
{
  public:
    Rebuilder(const Group &group, std::size_t lost,
              const std::filesystem::path &directory,
              const std::vector<BlockSource *> &members,
              const std::atomic<bool> &cancelled)
        : group_(group), lost_(static_cast<unsigned>(lost)), cancelled_(cancelled),
          layout_(static_cast<unsigned>(group.members.size()), group.losses),
          coder_(layout_.data(), layout_.losses()), buffers_(layout_.data() + 1),
          survivors_(group, lost, members),
          file_(directory / group.members.at(lost).file, "piece")
    {
    }

    void run()
    {
        for (unsigned chunk = 0; chunk < layout_.data(); chunk++) {
            rebuild_chunk(chunk);
        }
        file_.sync();
        file_.publish();
    }

  private:
    using Blocks = std::vector<unsigned>;

    void rebuild_chunk(unsigned chunk)
    {
        const Member &piece = group_.members[lost_];
        const unsigned stripe = layout_.stripe_of_chunk(lost_, chunk);
        const std::uint64_t begin = chunk * group_.chunk;
        const auto slices =
            slices_of(group_, bytes_there(piece, begin, group_.chunk));
        const Blocks candidates = survivors_.blocks_of(stripe);

        if (slices.empty()) {
            return;
        }
        for (unsigned block : first(candidates, layout_.data())) {
            survivors_.announce(stripe, block, slices.back().offset + slices.back().bytes);
        }
        for (const Slice &slice : slices) {
            const auto made = rebuild_slice(stripe, candidates, slice);
            CKPT_INVARIANT(made.size() >= slice.bytes);
            const std::uint64_t at = begin + slice.offset;
            file_.write(made.first(bytes_there(piece, at, slice.bytes)), at);
        }
    }

    static Blocks first(Blocks blocks, std::size_t count)
    {
        blocks.resize(std::min(blocks.size(), count));
        return blocks;
    }

    std::span<const std::byte> rebuild_slice(unsigned stripe, const Blocks &candidates,
                                             const Slice &slice)
    {
        const unsigned wanted = layout_.block_of(lost_, stripe);
        const auto made = buffers_.at(layout_.data(), slice.bytes);
        const Blocks used = read_good_ones(stripe, candidates, slice);
        CKPT_INVARIANT(used.size() == layout_.data() && made.size() == slice.bytes);

        recovery(used, wanted).apply(buffers_.pointers(used.size()), made);
        survivors_.require_good(stripe, wanted, slice, made);
        return made;
    }

    /* Reads the required number of good blocks; the n-th block goes to the n-th buffer. */
    Blocks read_good_ones(unsigned stripe, const Blocks &candidates, const Slice &slice)
    {
        Blocks good;

        for (unsigned block : candidates) {
            if (cancelled_) {
                fail("rebuilding a piece was cancelled");
            }
            if (good.size() < layout_.data() &&
                survivors_.read(stripe, block, slice,
                                buffers_.at(good.size(), slice.bytes))) {
                good.push_back(block);
            }
        }
        if (good.size() < layout_.data()) {
            fail("the piece of {} cannot be rebuilt: of stripe {} it takes {} blocks, and "
                 "only {} are there{}",
                 group_.members[lost_].host, stripe, layout_.data(), good.size(),
                 survivors_.damage());
        }
        return good;
    }

    /* Caches the combinations, so that each matrix is inverted once. */
    const Combination &recovery(const Blocks &from, unsigned wanted)
    {
        auto found = recoveries_.find({from, wanted});

        if (found == recoveries_.end()) {
            found = recoveries_
                        .emplace(std::pair(from, wanted), coder_.recovery(from, wanted))
                        .first;
        }
        return found->second;
    }

    const Group &group_;
    const unsigned lost_;
    const std::atomic<bool> &cancelled_;
    const Layout layout_;
    const Coder coder_;
    SliceBuffers buffers_; /* one for each source block, one for the result */
    Survivors survivors_;
    std::map<std::pair<Blocks, unsigned>, Combination> recoveries_;
    NewFile file_;
};

} // namespace

void rebuild_piece(const Group &group, std::size_t lost,
                   const std::filesystem::path &directory,
                   const std::vector<BlockSource *> &members,
                   const std::atomic<bool> &cancelled)
{
    Rebuilder(group, lost, directory, members, cancelled).run();
}

void fetch_piece(const Member &member, const std::filesystem::path &directory,
                 BlockSource &source)
{
    SliceBuffers buffer(1);

    require_size(member, source);
    NewFile file(directory / member.file, "piece");
    if (member.bytes > 0) {
        source.announce(member.file, 0, member.bytes);
    }
    for (std::uint64_t at = 0; at < member.bytes; at += slice_bytes) {
        const auto part = buffer.at(0, bytes_there(member, at, slice_bytes));
        source.read(member.file, at, part);
        file.write(part, at);
    }
    file.sync();
    file.publish();
}

} // namespace ckpt::redundancy
