/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_session.cpp - one rank of this node: its connection and its page.
 */
#include "agent/rank_session.hpp"

#include "agent/refusals.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

/* The other side of the page writes while we read. */
std::uint64_t load(const std::uint64_t &field)
{
    return __atomic_load_n(&field, __ATOMIC_ACQUIRE);
}

void store(std::uint64_t &field, std::uint64_t value)
{
    __atomic_store_n(&field, value, __ATOMIC_RELEASE);
}

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

RankSession::~RankSession()
{
    if (page_ != nullptr) {
        munmap(page_, page_size_);
    }
}

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
        refuse(Refusal::malformed, "a message of {} bytes that is none of ours", size);
    }
    if (message.version != CKPT_WIRE_VERSION) {
        refuse(Refusal::foreign, "a message of protocol version {}, not {}",
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
        refuse(Refusal::replayed, "rank {} introduced itself twice", rank_);
    }
    if (getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) {
        fail_errno(errno, "who sent HELLO");
    }
    if (static_cast<std::uint64_t>(peer.pid) != message.arg[2]) {
        refuse(Refusal::forged, "HELLO of process {} came from process {}",
               message.arg[2], peer.pid);
    }
    if (message.arg[1] == 0 || message.arg[1] > largest_job ||
        message.arg[0] >= message.arg[1]) {
        refuse(Refusal::malformed, "HELLO of rank {} of {}", message.arg[0],
               message.arg[1]);
    }
    if (message.arg[4] == 0 || message.arg[4] > 64) {
        refuse(Refusal::malformed, "HELLO with signal {}", message.arg[4]);
    }
    rank_ = static_cast<int>(message.arg[0]);
    rank_count_ = static_cast<int>(message.arg[1]);
    pid_ = peer.pid;
    tid_ = static_cast<pid_t>(message.arg[3]);
    signal_ = static_cast<int>(message.arg[4]);
    process_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (!process_) {
        fail_errno(errno, "rank {}: no process {}", rank_, pid_);
    }
    cut_.hello(message);
    map_page();
}

void RankSession::map_page()
{
    struct stat status;
    std::size_t needed =
        CKPT_RANK_PAGE_SIZE(static_cast<std::size_t>(rank_count_));

    Fd file = take_passed();
    if (!file || fstat(file.get(), &status) < 0 ||
        static_cast<std::size_t>(status.st_size) < needed) {
        refuse(Refusal::malformed, "rank {} brought no rank page of {} bytes", rank_,
               needed);
    }
    void *address = mmap(nullptr, needed, PROT_READ | PROT_WRITE, MAP_SHARED,
                         file.get(), 0);
    if (address == MAP_FAILED) {
        fail_errno(errno, "rank {}: cannot map its page", rank_);
    }
    auto *page = static_cast<ckpt_rank_page *>(address);
    if (page->magic != CKPT_PAGE_MAGIC || page->version != CKPT_WIRE_VERSION ||
        page->rank != static_cast<std::uint32_t>(rank_) ||
        page->rank_count != static_cast<std::uint32_t>(rank_count_)) {
        munmap(address, needed);
        refuse(Refusal::malformed, "rank {}: what it brought is not its rank page",
               rank_);
    }
    page_ = page;
    page_size_ = needed;
}

bool RankSession::send(ckpt_message_type type, std::uint64_t epoch,
                       std::uint64_t argument0, std::uint64_t argument1,
                       std::string_view text)
{
    ckpt_message message{};
    ssize_t size;

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
    /* If the thread is gone, so is the rank, and its connection will tell. */
    (void)syscall(SYS_tgkill, pid_, tid_, signal_);
}

void RankSession::kill() const
{
    (void)syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
}

std::vector<ckpt_clock> RankSession::clocks() const
{
    std::uint32_t count = std::min(
        __atomic_load_n(&page_->clock_count, __ATOMIC_ACQUIRE),
        CKPT_CLOCK_SLOTS);
    std::vector<ckpt_clock> clocks;

    clocks.reserve(count);
    for (std::uint32_t i = 0; i < count; i++) {
        const ckpt_clock &clock = page_->clock[i];
        ckpt_clock copy;
        copy.id = load(clock.id);
        copy.settled = load(clock.settled); /* never beyond left, */
        copy.left = load(clock.left);       /* nor that beyond entered */
        copy.entered = load(clock.entered);
        copy.target = load(clock.target);
        clocks.push_back(copy);
    }
    return clocks;
}

std::uint64_t RankSession::sent(int peer) const
{
    return load(ckpt_page_peers(page_)[peer].sent);
}

std::uint64_t RankSession::received(int peer) const
{
    return load(ckpt_page_peers(page_)[peer].received);
}

RankSeen RankSession::seen() const
{
    const ckpt_history &history = page_->history;
    RankSeen seen;

    for (std::size_t kind = 0; kind < CKPT_SEEN_KINDS; kind++) {
        seen.counts[kind] = load(history.count[kind]);
    }
    seen.logged_bytes = load(history.logged_bytes);
    std::uint64_t kept =
        std::min<std::uint64_t>(load(history.kept), CKPT_HISTORY_EVENTS);
    seen.events.assign(history.event, history.event + kept);
    return seen;
}

void RankSession::set_targets(const std::vector<std::uint64_t> &targets)
{
    std::size_t count =
        std::min<std::size_t>(targets.size(), CKPT_CLOCK_SLOTS);

    for (std::size_t i = 0; i < count; i++) {
        store(page_->clock[i].target, targets[i]);
    }
}

void RankSession::set_protected(bool is_protected)
{
    __atomic_store_n(&page_->is_protected, is_protected ? 1 : 0, __ATOMIC_RELAXED);
}

void RankSession::set_expected(const std::vector<std::uint64_t> &expected)
{
    for (int i = 0; i < rank_count_ && i < static_cast<int>(expected.size());
         i++) {
        store(ckpt_page_peers(page_)[i].expected, expected[i]);
    }
}

void RankSession::set_committed(std::uint64_t number)
{
    store(page_->committed, number);
}

} // namespace ckpt
