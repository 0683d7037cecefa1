/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel.cpp - sends and receives messages of ckpt-world.
 */
#include "world/channel.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include <sys/epoll.h>
#include <sys/socket.h>

namespace ckpt::world
{

Channel::Channel(EventLoop &loop, Fd socket, Received received, Closed closed)
    : loop_(loop), socket_(std::move(socket)), received_(std::move(received)),
      closed_(std::move(closed))
{
    CKPT_EXPECT(socket_ && received_ && closed_);
    loop_.watch(socket_.get(), EPOLLIN, [this](std::uint32_t) { read(); });
}

Channel::~Channel()
{
    if (socket_) {
        loop_.forget(socket_.get());
    }
}

void Channel::close(const std::string &why)
{
    if (socket_) {
        loop_.forget(socket_.get());
        socket_.reset();
        closed_(why);
    }
}

void Channel::take_all()
{
    try {
        while (auto message = frames_.next()) {
            received_(*message);
        }
    } catch (const Error &problem) {
        close(problem.what());
    }
}

void Channel::read()
{
    std::array<char, 65536> bytes{};
    const ssize_t got = recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);

    if (got > 0) {
        frames_.add(std::string_view(bytes.data(), static_cast<std::size_t>(got)));
        take_all();
    } else if (got == 0) {
        close("");
    } else if (errno != EAGAIN && errno != EINTR) {
        close(errno == ECONNRESET ? "" : std::strerror(errno));
    }
}

bool Channel::send(const Message &message)
{
    const std::string frame = to_frame(message);
    std::size_t sent = 0;

    while (socket_ && sent < frame.size()) {
        const ssize_t now =
            ::send(socket_.get(), frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
        if (now < 0 && errno != EINTR) {
            return false; /* read() learns why */
        }
        sent += now > 0 ? static_cast<std::size_t>(now) : 0;
    }
    CKPT_INVARIANT(!socket_ || sent == frame.size());
    return static_cast<bool>(socket_);
}

} // namespace ckpt::world
