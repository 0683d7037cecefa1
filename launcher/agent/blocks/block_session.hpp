/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_session.hpp - serves one node that reads files of this node. It takes that node's requests,
 * and sends the blocks in order, as fast as that node takes them.
 *
 * It keeps one block in memory, whatever the size of the requests.
 */
#pragma once

#include "agent/blocks/block_request.hpp"
#include "agent/blocks/block_tags.hpp"
#include "agent/links/frame_stream.hpp"
#include "agent/blocks/registered_memory.hpp"
#include "agent/base/rejected_frames.hpp"
#include "agent/blocks/served_file.hpp"
#include "common/event_loop.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ckpt::redundancy
{

class BlockSession
{
  public:
    /* peer: name for the log. fabric: lends files that the other side can read by itself. end:
     * called when the connection has ended or failed; may destroy the session. `loop`,
     * `rejected` and `fabric` must live longer. */
    BlockSession(EventLoop &loop, FrameStream::Released connection, std::string peer,
                 const std::filesystem::path &root, RejectedFrames &rejected, FabricHost &fabric,
                 std::function<void()> end);
    ~BlockSession();
    BlockSession(const BlockSession &) = delete;
    BlockSession &operator=(const BlockSession &) = delete;

    /* Whether the other side has access to memory of this node. */
    bool has_lent() const { return !lent_.empty(); }

  private:
    void on_event(std::uint32_t events);
    bool receive();
    void take(const Frame &frame);
    bool send();
    bool make_output();
    void begin(const BlockRequest &request);
    BlockAnswer open(const BlockRequest &request);
    void lend(const BlockRequest &request, BlockAnswer &answer);
    void make_block();

    EventLoop &loop_;
    FrameStream::Released connection_;
    const std::string peer_;
    const std::filesystem::path root_;
    RejectedFrames &rejected_;
    std::function<void()> end_;
    FrameReader reader_;
    BlockTags tags_;
    std::deque<BlockRequest> requests_;

    std::optional<ServedFile> file_; /* the file of the range that is being sent */
    std::uint64_t next_ = 0, range_end_ = 0;
    bool is_lent_ = false; /* send only the tags of this range */
    RegisteredMemory lent_;

    std::vector<std::byte> output_; /* a block with its tag, a tag alone, or an answer */
    std::size_t sent_ = 0;          /* bytes of `output_` that are sent */
};

} // namespace ckpt::redundancy
