/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frame_stream.hpp - a TCP connection between two agents (docs/protocol.md, section 9). It carries
 * frames of the handshake until the other side is authenticated, then JSON objects with numbers and
 * tags.
 *
 * An invalid frame ends the connection and is counted, before its text is parsed.
 */
#pragma once

#include "agent/links/frame.hpp"
#include "agent/links/frame_seal.hpp"
#include "agent/base/rejected_frames.hpp"
#include "common/event_loop.hpp"
#include "common/fd.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace ckpt
{

class FrameStream
{
  public:
    /* Any of these may destroy the stream. `frame` may throw: then the stream closes the
     * connection; Rejected gives the reason. end: the other side has gone, or was refused. */
    struct Handlers {
        std::function<void(const nlohmann::json &)> frame;
        std::function<void()> end;
    };
    struct Strange {
        std::function<void(const Frame &)> frame;
        std::function<void()> end;
    };

    /* socket: connected, nonblocking. peer: name for the log. */
    FrameStream(EventLoop &loop, Fd socket, std::string peer, RejectedFrames &rejected);
    ~FrameStream();
    FrameStream(const FrameStream &) = delete;
    FrameStream &operator=(const FrameStream &) = delete;

    /* Handlers until the other side is authenticated: frames are short, and their tags are
     * unchecked. */
    void handle_strange(Strange handlers) { strange_ = std::move(handlers); }
    /* Sends the bytes of a frame of the handshake. */
    void send_strange(std::string_view frame);

    /* The other side is authenticated. From now on, all frames in both directions are messages
     * with tags of these keys. */
    void trust(const MessageKey &outgoing, const MessageKey &incoming);
    void handle(Handlers handlers) { handlers_ = std::move(handlers); }
    /* Sends nothing if the connection has ended. */
    void send(const nlohmann::json &json);

    /* The parts of an authenticated connection, for traffic other than messages. */
    struct Released {
        Fd socket; /* nonblocking */
        FrameSeal incoming, outgoing;
    };
    /* Gives the connection away; this object cannot be used afterwards. Throws Rejected if the
     * other side has already sent more. */
    Released release();

    /* Whether nothing waits to be sent. */
    bool idle() const { return output_.empty(); }
    /* Name of the other side for the log. */
    const std::string &peer() const { return peer_; }
    void set_peer(std::string peer) { peer_ = std::move(peer); }

  private:
    void on_event(std::uint32_t events);
    bool read();
    bool take_frames();
    void take(const Frame &frame);
    void rejected(Rejection why, const std::string &text);
    bool flush();

    EventLoop &loop_;
    Fd socket_; /* valid until the connection has ended */
    std::string peer_;
    RejectedFrames &rejected_;
    Strange strange_;
    Handlers handlers_;
    FrameReader reader_;
    std::optional<FrameSeal> incoming_, outgoing_; /* set when the other side is authenticated */
    std::string output_;
    std::shared_ptr<bool> alive_; /* false when this object is destroyed */
};

} // namespace ckpt
