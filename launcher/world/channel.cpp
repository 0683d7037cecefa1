/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel.cpp - sends and receives messages of ckpt-world.
 */
#include "world/channel.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/sockets/descriptor_passing.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

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

/* Like recv(2). Each message has one descriptor at most, and ends what one call receives. */
ssize_t Channel::receive(std::span<char> bytes)
{
    DescriptorRoom<1> room;
    iovec place{bytes.data(), bytes.size()};
    msghdr header{};
    header.msg_iov = &place;
    header.msg_iovlen = 1;
    header.msg_control = room.bytes.data();
    header.msg_controllen = room.bytes.size();
    const ssize_t got = recvmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (got >= 0) {
        std::ranges::move(descriptors_of(header), std::back_inserter(descriptors_));
    }
    return got;
}

Fd Channel::take_descriptor()
{
    if (descriptors_.empty()) {
        return Fd();
    }
    Fd first = std::move(descriptors_.front());
    descriptors_.pop_front();
    return first;
}

void Channel::read()
{
    std::array<char, 65536> bytes{};
    const ssize_t got = receive(bytes);

    if (got > 0) {
        frames_.add(std::string_view(bytes.data(), static_cast<std::size_t>(got)));
        take_all();
    } else if (got == 0) {
        close("");
    } else if (errno != EAGAIN && errno != EINTR) {
        close(errno == ECONNRESET ? "" : std::strerror(errno));
    }
}

bool Channel::send(const Message &message, int descriptor)
{
    std::string frame = to_frame(message);
    std::size_t sent = 0;
    DescriptorRoom<1> room;

    while (socket_ && sent < frame.size()) {
        iovec place{frame.data() + sent, frame.size() - sent};
        msghdr header{};
        header.msg_iov = &place;
        header.msg_iovlen = 1;
        if (descriptor >= 0 && sent == 0) {
            attach_descriptors(header, room.bytes, {&descriptor, 1});
        }
        const ssize_t now = sendmsg(socket_.get(), &header, MSG_NOSIGNAL);
        if (now < 0 && errno != EINTR) {
            return false; /* read() learns why */
        }
        sent += now > 0 ? static_cast<std::size_t>(now) : 0;
    }
    CKPT_INVARIANT(!socket_ || sent == frame.size());
    return static_cast<bool>(socket_);
}

} // namespace ckpt::world
