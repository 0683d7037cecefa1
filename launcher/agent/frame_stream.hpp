/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frame_stream.hpp - a TCP connection between two agents: frames of the handshake,
 * until the other side is known, then JSON objects with numbers and tags
 * (docs/protocol.md, section 9).
 *
 * What is not as it must be ends the connection and is counted, before its text is
 * looked at.
 */
#pragma once

#include "agent/frame.hpp"
#include "agent/frame_seal.hpp"
#include "agent/refusals.hpp"
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
    /* Any of these may destroy the stream. `frame` may throw; the connection is then
     * closed, which Refused gives the reason for. end: the other side has gone, or was
     * refused. */
    struct Handlers {
        std::function<void(const nlohmann::json &)> frame;
        std::function<void()> end;
    };
    struct Strange {
        std::function<void(const Frame &)> frame;
        std::function<void()> end;
    };

    /* socket: connected, nonblocking. peer: for the log. */
    FrameStream(EventLoop &loop, Fd socket, std::string peer, Refusals &refusals);
    ~FrameStream();
    FrameStream(const FrameStream &) = delete;
    FrameStream &operator=(const FrameStream &) = delete;

    /* The other side is not known yet: frames are short, and none has been checked. */
    void handle_strange(Strange handlers) { strange_ = std::move(handlers); }
    /* The bytes of a frame of the handshake. */
    void send_strange(std::string_view frame);

    /* The other side is known: all that comes from now on, and all that is sent, are
     * messages with tags of these keys. */
    void trust(const MessageKey &outgoing, const MessageKey &incoming);
    void handle(Handlers handlers) { handlers_ = std::move(handlers); }
    /* Nothing is sent when the connection has ended. */
    void send(const nlohmann::json &json);

    /* What goes on when the other side is known and something else than messages is to
     * travel, too. */
    struct Released {
        Fd socket; /* nonblocking */
        FrameSeal incoming, outgoing;
    };
    /* Gives the connection away; the object is then of no use any more. Throws Refused if
     * the other side has not waited for that. */
    Released release();

    /* Nothing waits to be sent. */
    bool idle() const { return output_.empty(); }
    /* For the log. */
    const std::string &peer() const { return peer_; }
    void set_peer(std::string peer) { peer_ = std::move(peer); }

  private:
    void on_event(std::uint32_t events);
    bool read();
    bool take_frames();
    void take(const Frame &frame);
    void refused(Refusal why, const std::string &text);
    bool flush();

    EventLoop &loop_;
    Fd socket_; /* until the connection has ended */
    std::string peer_;
    Refusals &refusals_;
    Strange strange_;
    Handlers handlers_;
    FrameReader reader_;
    std::optional<FrameSeal> incoming_, outgoing_; /* when the other side is known */
    std::string output_;
    std::shared_ptr<bool> alive_; /* false when this object is gone */
};

} // namespace ckpt
