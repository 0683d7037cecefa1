/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_session.cpp - one rank of this node: its connection and its page.
 */
#include "agent/ranks/rank_session.hpp"

#include "agent/base/rejected_frames.hpp"
#include "common/invariant.hpp"
#include "common/pidfd.hpp"
#include "common/sockets/descriptor_passing.hpp"
#include "protocol/rank_message.hpp"

#include <spdlog/spdlog.h>

#include <linux/sockios.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ckpt
{

namespace
{

static_assert(std::is_trivially_copyable_v<ckpt_message>);

void decode(ckpt_message &message, std::size_t size)
{
    const char *wrong = nullptr;
    const int error = ckpt_message_decode(&message, size, CKPT_FROM_RANK, &wrong);

    if (error == -EPROTONOSUPPORT) {
        reject(Rejection::foreign, "a message of protocol version {}, not {}",
               message.version, CKPT_WIRE_VERSION);
    }
    if (error != 0) {
        reject(Rejection::malformed, "a message of {} bytes with an invalid '{}'", size, wrong);
    }
}

} // namespace

RankSession::RankSession(Fd socket, pid_t process)
    : socket_(std::move(socket)), owner_(process) {}

RankSession::Received RankSession::receive(ckpt_message &message)
{
    iovec vector = {&message, sizeof message};
    DescriptorRoom<1> room;
    msghdr header{};
    ssize_t size;

    header.msg_iov = &vector;
    header.msg_iovlen = 1;
    header.msg_control = room.bytes.data();
    header.msg_controllen = room.bytes.size();
    do {
        size = recvmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (size < 0 && errno == EINTR);
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        return Received::nothing;
    }
    if (size <= 0) {
        return Received::end;
    }
    if (auto passed = descriptors_of(header); !passed.empty()) {
        passed_ = std::move(passed.back());
    }
    if ((header.msg_flags & MSG_TRUNC) != 0) {
        reject(Rejection::malformed, "a message of more than {} bytes", size);
    }
    decode(message, static_cast<std::size_t>(size));
    cut_.answered(message);
    return Received::message;
}

/* Returns the process at the other end. */
pid_t RankSession::peer() const
{
    ucred peer{};
    socklen_t size = sizeof peer;

    if (owner_ != 0) {
        return owner_;
    }
    if (getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) {
        fail_errno(errno, "who sent HELLO");
    }
    return peer.pid;
}

/* pid: whose process the sender says that it is. */
void RankSession::take_sender(std::uint64_t pid, const char *message)
{
    const pid_t sender = peer();

    if (static_cast<std::uint64_t>(sender) != pid) {
        reject(Rejection::forged, "{} of process {} came from process {}", message, pid, sender);
    }
    pid_ = sender;
    process_ = open_pidfd(pid_);
    if (!process_) {
        fail_errno(errno, "{}: no process {}", message, pid_);
    }
}

void RankSession::hello(const ckpt_message &message)
{
    if (introduced()) {
        reject(Rejection::replayed, "rank {} introduced itself twice", rank_);
    }
    const ckpt_msg_hello &hello = message.as.hello;
    take_sender(hello.pid, "HELLO");
    rank_ = static_cast<int>(hello.rank);
    rank_count_ = static_cast<int>(hello.rank_count);
    tid_ = static_cast<pid_t>(hello.thread);
    signal_ = static_cast<int>(hello.signal);
    cut_.hello(message);
    page_ = std::make_shared<RankPage>(take_passed(), rank_, rank_count_);
    CKPT_INVARIANT(introduced() && rank_ < rank_count_);
}

void RankSession::shell(const ckpt_message &message)
{
    CKPT_EXPECT(!introduced());
    take_sender(message.as.shell.pid, "SHELL");
    rank_ = static_cast<int>(message.as.shell.rank);
}

/* unix(7): SIOCOUTQ counts the bytes that the other end has not received yet. */
bool RankSession::has_unread() const
{
    int bytes = 0;

    return ioctl(socket_.get(), SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

bool RankSession::send(ckpt_message_type type, std::uint64_t epoch,
                       const ckpt_message_body &body, std::string_view text)
{
    ckpt_message message = make_message(type, epoch, body, text);

    if (type == CKPT_MSG_PROGRESS && has_unread()) {
        return true; /* the rank may stay in one call of the lower half for a second */
    }
    return transmit(message, -1);
}

/* Encodes and sends a message. passed: a descriptor that goes with it, or -1. */
bool RankSession::transmit(ckpt_message &message, int passed)
{
    const char *wrong = nullptr;
    iovec vector = {&message, sizeof message};
    DescriptorRoom<1> room;
    msghdr header{};
    ssize_t size;

    if (ckpt_message_encode(&message, CKPT_FROM_AGENT, &wrong) != 0) {
        spdlog::error("rank {}: message {} has an invalid '{}'", rank_, message.type, wrong);
        return false;
    }
    cut_.ordered(static_cast<ckpt_message_type>(message.type), message.epoch, message.as);
    header.msg_iov = &vector;
    header.msg_iovlen = 1;
    if (passed >= 0) {
        attach_descriptors(header, room.bytes, {&passed, 1});
    }
    do {
        size = ::sendmsg(socket_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (size < 0 && errno == EINTR);
    return size == sizeof message;
}

bool RankSession::change_world(const Fd &environment)
{
    ckpt_message message = make_message(CKPT_MSG_CHANGE_WORLD, 0);

    CKPT_EXPECT(introduced() && environment);
    return transmit(message, environment.get());
}

bool RankSession::become_shell(pid_t successor)
{
    CKPT_EXPECT(successor > 0);
    return send(CKPT_MSG_BECOME_SHELL, 0,
                {.become_shell = {.successor = static_cast<std::uint64_t>(successor)}});
}

void RankSession::signal() const
{
    CKPT_EXPECT(signal_ >= 1 && signal_ <= 64);
    /* If the thread is gone, so is the rank, and the end of its connection shows that. */
    (void)syscall(SYS_tgkill, pid_, tid_, signal_);
}

void RankSession::kill() const
{
    CKPT_EXPECT(process_);
    send_signal(process_, SIGKILL);
}

void RankSession::terminate() const
{
    CKPT_EXPECT(process_);
    send_signal(process_, SIGTERM);
}

} // namespace ckpt
