/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frame_stream.hpp - JSON objects over a TCP connection between two agents:
 * four bytes of length, little endian, then the text (docs/protocol.md,
 * section 9).
 */
#pragma once

#include "common/event_loop.hpp"
#include "common/fd.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>

namespace ckpt
{

class FrameStream
{
  public:
    struct Handlers {
        /* May throw; the connection is then closed. */
        std::function<void(const nlohmann::json &)> frame;
        /* The other side has gone, or sent what is no frame. The stream may be
         * destroyed in it. */
        std::function<void()> end;
    };

    FrameStream(EventLoop &loop, Fd socket, std::string peer);
    ~FrameStream();
    FrameStream(const FrameStream &) = delete;
    FrameStream &operator=(const FrameStream &) = delete;

    void handle(Handlers handlers) { handlers_ = std::move(handlers); }
    /* Frames may be long from now on: the other side is known. */
    void trust();
    void send(const nlohmann::json &json);
    /* Nothing waits to be sent. */
    bool idle() const { return output_.empty(); }
    /* For the log. */
    const std::string &peer() const { return peer_; }

  private:
    void on_event(std::uint32_t events);
    bool read();
    bool cut_frames();
    bool flush();

    EventLoop &loop_;
    Fd socket_;
    std::string peer_;
    Handlers handlers_;
    std::size_t limit_;
    std::string input_;
    std::string output_;
    std::shared_ptr<bool> alive_; /* false when this object is gone */
};

} // namespace ckpt
