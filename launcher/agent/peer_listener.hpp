/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_listener.hpp - lets the agents of the job's other nodes in, and nobody
 * else: who calls must show the key of PeerAddress first.
 */
#pragma once

#include "agent/frame_stream.hpp"
#include "agent/peer_address.hpp"
#include "common/event_loop.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace ckpt
{

class PeerListener
{
  public:
    /* purpose: what the caller wants (agent/peer_connection.hpp) */
    using Accepted = std::function<void(std::unique_ptr<FrameStream>,
                                        const std::string &host,
                                        const std::string &purpose)>;

    /*
     * Listens on a free port. The address is kept in `file`, so that an agent
     * that takes the place of one that died is reached at the same address,
     * which the ranks still know. Throws Error.
     */
    PeerListener(EventLoop &loop, const std::filesystem::path &file,
                 std::string launch_namespace, Accepted accepted);
    ~PeerListener(); /* removes the file */

    const PeerAddress &address() const { return address_; }

  private:
    void listen();
    void accept();
    void introduce(FrameStream *stream, const nlohmann::json &frame);

    EventLoop &loop_;
    std::filesystem::path file_;
    std::string namespace_;
    Accepted accepted_;
    PeerAddress address_;
    Fd socket_;
    std::map<FrameStream *, std::unique_ptr<FrameStream>> strangers_;
};

} // namespace ckpt
