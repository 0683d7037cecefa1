/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_session.cpp - one rank of this node: its connection and its page.
 */
#include "agent/ranks/rank_session.hpp"

#include "agent/base/rejected_frames.hpp"
#include "common/invariant.hpp"
#include "common/pidfd.hpp"

#include <linux/sockios.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ckpt
{

namespace
{

constexpr std::uint64_t largest_job = 1u << 20; /* ranks */
static_assert(std::is_trivially_copyable_v<ckpt_message>);

Fd passed_descriptor(msghdr &header)
{
    Fd passed;

    for (cmsghdr *part = CMSG_FIRSTHDR(&header); part != nullptr;
         part = CMSG_NXTHDR(&header, part)) {
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS) {
            std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            for (std::size_t i = 0; i < count; i++) {
                int fd;
                std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
                passed.reset(fd);
            }
        }
    }
    return passed;
}

} // namespace

RankSession::RankSession(Fd socket) : socket_(std::move(socket)) {}

RankSession::Received RankSession::receive(ckpt_message &message)
{
    iovec vector = {&message, sizeof message};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    msghdr header{};
    ssize_t size;

    header.msg_iov = &vector;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    do {
        size = recvmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (size < 0 && errno == EINTR);
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        return Received::nothing;
    }
    if (size <= 0) {
        return Received::end;
    }
    Fd passed = passed_descriptor(header);
    if (passed) {
        passed_ = std::move(passed);
    }
    if (size != sizeof message || (header.msg_flags & MSG_TRUNC) != 0 ||
        message.magic != CKPT_WIRE_MAGIC) {
        reject(Rejection::malformed, "a message of {} bytes that is none of ours", size);
    }
    if (message.version != CKPT_WIRE_VERSION) {
        reject(Rejection::foreign, "a message of protocol version {}, not {}",
               message.version, CKPT_WIRE_VERSION);
    }
    message.text[sizeof message.text - 1] = '\0';
    cut_.answered(message);
    return Received::message;
}

void RankSession::hello(const ckpt_message &message)
{
    ucred peer{};
    socklen_t size = sizeof peer;

    if (introduced()) {
        reject(Rejection::replayed, "rank {} introduced itself twice", rank_);
    }
    if (getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) {
        fail_errno(errno, "who sent HELLO");
    }
    if (static_cast<std::uint64_t>(peer.pid) != message.arg[2]) {
        reject(Rejection::forged, "HELLO of process {} came from process {}",
               message.arg[2], peer.pid);
    }
    if (message.arg[1] == 0 || message.arg[1] > largest_job ||
        message.arg[0] >= message.arg[1]) {
        reject(Rejection::malformed, "HELLO of rank {} of {}", message.arg[0],
               message.arg[1]);
    }
    if (message.arg[4] == 0 || message.arg[4] > 64) {
        reject(Rejection::malformed, "HELLO with signal {}", message.arg[4]);
    }
    rank_ = static_cast<int>(message.arg[0]);
    rank_count_ = static_cast<int>(message.arg[1]);
    pid_ = peer.pid;
    tid_ = static_cast<pid_t>(message.arg[3]);
    signal_ = static_cast<int>(message.arg[4]);
    process_ = open_pidfd(pid_);
    if (!process_) {
        fail_errno(errno, "rank {}: no process {}", rank_, pid_);
    }
    cut_.hello(message);
    page_ = std::make_shared<RankPage>(take_passed(), rank_, rank_count_);
    CKPT_INVARIANT(introduced() && rank_ < rank_count_);
}

/* unix(7): SIOCOUTQ counts the bytes that the other end has not received yet. */
bool RankSession::has_unread() const
{
    int bytes = 0;

    return ioctl(socket_.get(), SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

bool RankSession::send(ckpt_message_type type, std::uint64_t epoch,
                       std::uint64_t argument0, std::uint64_t argument1,
                       std::string_view text)
{
    ckpt_message message{};
    ssize_t size;

    if (type == CKPT_MSG_PROGRESS && has_unread()) {
        return true; /* the rank may stay in one call of the lower half for a second */
    }
    message.magic = CKPT_WIRE_MAGIC;
    message.version = CKPT_WIRE_VERSION;
    message.type = type;
    message.epoch = epoch;
    message.arg[0] = argument0;
    message.arg[1] = argument1;
    cut_.ordered(type, epoch, argument0);
    text = text.substr(0, sizeof message.text - 1);
    std::copy(text.begin(), text.end(), message.text);
    do {
        size = ::send(socket_.get(), &message, sizeof message,
                      MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (size < 0 && errno == EINTR);
    return size == sizeof message;
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

} // namespace ckpt
