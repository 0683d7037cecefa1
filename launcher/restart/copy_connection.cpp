/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_connection.cpp - packets with descriptors to a frozen copy, and its answers.
 */
#include "config.h"
#include "restart/copy_connection.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/refusal.hpp"

#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace ckpt::restart
{

namespace
{

/* Puts the descriptors into `space`, as the control data of a message. */
void attach(msghdr &message, std::span<char> space, std::span<const int> descriptors)
{
    if (descriptors.empty()) {
        return;
    }
    message.msg_control = space.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    CKPT_EXPECT(message.msg_controllen <= space.size());
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
}

/* An answer with its text. */
struct Answer {
    ckpt_copy_order order;
    char text[sizeof(ckpt_failure::text)];
};

} // namespace

CopyConnection::CopyConnection(Fd connection)
    : connection_(std::move(connection)), serial_(0)
{
    if (::getrandom(&serial_, sizeof serial_, 0) != static_cast<ssize_t>(sizeof serial_)) {
        fail_errno(errno, "no random number for the orders to a copy");
    }
}

void CopyConnection::await_answer() const
{
    Answer answer{};
    ssize_t got = 0;
    do {
        answer = {};
        got = ::recv(connection_.get(), &answer, sizeof answer, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < static_cast<ssize_t>(sizeof answer.order)) {
            refuse(CKPT_REFUSAL_UNREADABLE_RANK, "the copy of the rank has ended{}",
                   got < 0 ? fmt::format(": {}", std::strerror(errno)) : "");
        }
    } while (got < 0 || answer.order.serial != serial_);
    if (answer.order.magic != CKPT_COPY_ORDER_MAGIC ||
        answer.order.version != CKPT_COPY_ORDER_VERSION) {
        refuse(CKPT_REFUSAL_INTERNAL_ERROR, "the copy of the rank is of another version, {}",
               answer.order.version);
    }
    if (answer.order.type == CKPT_COPY_RELEASED) {
        refuse(CKPT_REFUSAL_UNREADABLE_RANK, "the copy of the rank has released memory");
    }
    if (answer.order.type != CKPT_COPY_DONE) {
        answer.text[sizeof answer.text - 1] = '\0';
        throw Error(answer.text, 0, refusal_of(answer.order.value));
    }
}

void CopyConnection::order(ckpt_copy_order_type type, std::uint64_t value,
                           std::span<const std::byte> tail, std::span<const int> passed) const
{
    ckpt_copy_order order = {.magic = CKPT_COPY_ORDER_MAGIC,
                             .version = CKPT_COPY_ORDER_VERSION,
                             .type = static_cast<std::uint32_t>(type),
                             .count = static_cast<std::uint32_t>(passed.size()),
                             .serial = serial_,
                             .value = value};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(CKPT_COPY_DESCRIPTORS_MOST * sizeof(int))> space{};
    std::array<iovec, 2> parts = {
        iovec{&order, sizeof order},
        iovec{const_cast<std::byte *>(tail.data()), tail.size()}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    CKPT_EXPECT(tail.size() <= CKPT_COPY_TAIL_MOST);
    attach(message, space, passed);
    const auto size = static_cast<ssize_t>(sizeof order + tail.size());
    ssize_t sent = 0;
    do {
        sent = ::sendmsg(connection_.get(), &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent != size) {
        const int error = errno;
        refuse(CKPT_REFUSAL_UNREADABLE_RANK, "the copy of the rank cannot be told anything: {}",
               std::strerror(error));
    }
    await_answer();
}

void CopyConnection::prepare(std::uint64_t snapshot) const
{
    order(CKPT_COPY_PREPARE, snapshot, {}, {});
}

void CopyConnection::pass(std::span<const ckpt_copy_descriptor> descriptors, int above) const
{
    CKPT_EXPECT(above > 0);
    while (!descriptors.empty()) {
        const std::span part = descriptors.first(
            std::min<std::size_t>(descriptors.size(), CKPT_COPY_DESCRIPTORS_MOST));
        std::vector<int> numbers;
        std::ranges::transform(part, std::back_inserter(numbers), &ckpt_copy_descriptor::number);
        order(CKPT_COPY_DESCRIPTORS, static_cast<std::uint64_t>(above), std::as_bytes(part),
              numbers);
        descriptors = descriptors.subspan(part.size());
    }
}

void CopyConnection::thaw(const ThawParts &parts) const
{
    constexpr std::size_t most = sizeof(ckpt_resume_info::checkpoint);
    const std::string name = parts.checkpoint.substr(0, most - 1);
    std::array<int, CKPT_COPY_THAW_PARTS> passed{};
    passed[CKPT_COPY_ENVIRONMENT] = parts.environment;
    passed[CKPT_COPY_AGENT] = parts.agent;
    passed[CKPT_COPY_DIRECTORY] = parts.directory;
    order(CKPT_COPY_THAW, parts.started, std::as_bytes(std::span(name.c_str(), name.size() + 1)),
          passed);
}

} // namespace ckpt::restart
