/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frame_stream.cpp - frames over a TCP connection between two agents.
 */
#include "agent/links/frame_stream.hpp"

#include "agent/links/handshake.hpp"
#include "common/invariant.hpp"
#include "common/json_bytes.hpp"

#include <spdlog/spdlog.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace ckpt
{

namespace
{

constexpr std::size_t longest_message = 256u << 20; /* bytes of its text */

} // namespace

FrameStream::FrameStream(EventLoop &loop, Fd socket, std::string peer,
                         RejectedFrames &rejected)
    : loop_(loop), socket_(std::move(socket)), peer_(std::move(peer)),
      rejected_(rejected), reader_(longest_handshake),
      alive_(std::make_shared<bool>(true))
{
    int on = 1;

    setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(socket_.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    loop_.watch(socket_.get(), EPOLLIN,
                [this](std::uint32_t events) { on_event(events); });
}

FrameStream::~FrameStream()
{
    *alive_ = false;
    loop_.forget(socket_.get());
}

void FrameStream::trust(const MessageKey &outgoing, const MessageKey &incoming)
{
    CKPT_EXPECT(!incoming_ && !outgoing_);
    outgoing_.emplace(outgoing);
    incoming_.emplace(incoming);
    reader_.set_limit(longest_message);
}

FrameStream::Released FrameStream::release()
{
    CKPT_EXPECT(socket_ && incoming_ && outgoing_);
    if (reader_.is_within() || !output_.empty()) {
        reject(Rejection::malformed, "more than a call in the handshake");
    }
    loop_.forget(socket_.get());
    return {std::move(socket_), *incoming_, *outgoing_};
}

void FrameStream::on_event(std::uint32_t events)
{
    auto alive = alive_;
    bool open = true;

    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
        open = read();
    }
    if (*alive && open) {
        open = flush();
    }
    if (*alive && !open) {
        loop_.forget(socket_.get());
        socket_.reset(); /* the handler of the end may try to send */
        auto end = incoming_ ? handlers_.end : strange_.end;
        end();
    }
}

/* ---- Receiving ------------------------------------------------------------- */

/* Returns false at the end of the connection. */
bool FrameStream::read()
{
    char bytes[65536];
    ssize_t size = recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);

    if (size < 0) {
        return errno == EAGAIN || errno == EINTR;
    }
    if (size == 0) {
        if (reader_.is_within()) {
            rejected(Rejection::malformed, "a frame that is cut off");
        }
        return false;
    }
    reader_.add({bytes, static_cast<std::size_t>(size)});
    return take_frames();
}

/* Returns false if a frame was refused. */
bool FrameStream::take_frames()
{
    auto alive = alive_;

    try {
        while (*alive) {
            auto frame = reader_.next();
            if (!frame) {
                break;
            }
            take(*frame);
        }
        return true;
    } catch (const Rejected &error) {
        if (*alive) {
            rejected(error.why(), error.what());
        }
    } catch (const InvariantViolated &error) { /* of this agent, not of the other one */
        if (*alive) {
            spdlog::error("{}: the connection is dropped: {}", peer_, error.what());
        }
    } catch (const std::exception &error) {
        if (*alive) {
            rejected(Rejection::malformed, error.what());
        }
    }
    return false;
}

void FrameStream::take(const Frame &frame)
{
    if (!incoming_) {
        auto handler = strange_.frame; /* the handler may replace itself */
        handler(frame);
        return;
    }
    incoming_->check(frame);
    auto handler = handlers_.frame;
    handler(parse_json(frame.payload));
}

void FrameStream::rejected(Rejection why, const std::string &text)
{
    rejected_.count(why, fmt::format("{}: {}", peer_, text));
}

/* ---- Sending ----------------------------------------------------------------- */

void FrameStream::send_strange(std::string_view frame)
{
    if (socket_) {
        output_ += frame;
        flush(); /* reading the connection reports an error */
    }
}

void FrameStream::send(const nlohmann::json &json)
{
    if (socket_) {
        output_ += outgoing_->seal(dump_json(json));
        flush();
    }
}

bool FrameStream::flush()
{
    while (!output_.empty()) {
        ssize_t size = ::send(socket_.get(), output_.data(), output_.size(),
                              MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size < 0 && errno == EINTR) {
            continue;
        }
        if (size < 0 && errno != EAGAIN) {
            return false;
        }
        if (size < 0) {
            break;
        }
        output_.erase(0, static_cast<std::size_t>(size));
    }
    loop_.change(socket_.get(), output_.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT);
    return true;
}

} // namespace ckpt
