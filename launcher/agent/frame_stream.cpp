/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frame_stream.cpp - JSON objects over a TCP connection between two agents.
 */
#include "agent/frame_stream.hpp"

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

constexpr std::size_t limit_of_strangers = 4096; /* bytes of a frame */
constexpr std::size_t limit_of_peers = 256u << 20;
constexpr std::size_t length_bytes = 4;

std::size_t decode_length(const std::string &bytes)
{
    std::size_t length = 0;

    for (std::size_t i = length_bytes; i-- > 0;) {
        length = length << 8 | static_cast<unsigned char>(bytes[i]);
    }
    return length;
}

} // namespace

FrameStream::FrameStream(EventLoop &loop, Fd socket, std::string peer)
    : loop_(loop), socket_(std::move(socket)), peer_(std::move(peer)),
      limit_(limit_of_strangers), alive_(std::make_shared<bool>(true))
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

void FrameStream::trust()
{
    limit_ = limit_of_peers;
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
        auto end = handlers_.end;
        end();
    }
}

/* False at the end of the connection. */
bool FrameStream::read()
{
    char bytes[65536];
    ssize_t size = recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);

    if (size < 0) {
        return errno == EAGAIN || errno == EINTR;
    }
    if (size == 0) {
        return false;
    }
    input_.append(bytes, static_cast<std::size_t>(size));
    return cut_frames();
}

bool FrameStream::cut_frames()
{
    auto alive = alive_;

    while (*alive && input_.size() >= length_bytes) {
        std::size_t length = decode_length(input_);
        if (length > limit_) {
            spdlog::warn("{}: a frame of {} bytes", peer_, length);
            return false;
        }
        if (input_.size() < length_bytes + length) {
            break;
        }
        std::string text = input_.substr(length_bytes, length);
        input_.erase(0, length_bytes + length);
        try {
            auto handler = handlers_.frame; /* may replace itself */
            handler(nlohmann::json::parse(text));
        } catch (const std::exception &error) {
            if (*alive) {
                spdlog::warn("{}: {}", peer_, error.what());
            }
            return false;
        }
    }
    return true;
}

void FrameStream::send(const nlohmann::json &json)
{
    std::string text = json.dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace);

    for (std::size_t i = 0; i < length_bytes; i++) {
        output_ += static_cast<char>(text.size() >> (8 * i) & 0xff);
    }
    output_ += text;
    flush(); /* an error shows when the connection is read */
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
