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

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace ckpt::restart
{

CopyConnection::CopyConnection(Fd connection)
    : connection_(std::move(connection)), serial_(0)
{
    if (::getrandom(&serial_, sizeof serial_, 0) != static_cast<ssize_t>(sizeof serial_)) {
        fail_errno(errno, "no random number for the orders to a copy");
    }
}

CopyPacket CopyConnection::receive() const
{
    auto packet = receive_copy_packet(connection_.get());

    while (packet && packet->order.serial != serial_) {
        packet = receive_copy_packet(connection_.get());
    }
    if (!packet) {
        refuse(CKPT_REFUSAL_UNREADABLE_RANK, "the copy of the rank has ended");
    }
    if (packet->order.type == CKPT_COPY_RELEASED) {
        refuse(CKPT_REFUSAL_UNREADABLE_RANK, "the copy of the rank has released memory");
    }
    if (packet->order.type == CKPT_COPY_REFUSED) {
        throw Error(packet->text, 0, refusal_of(packet->order.value));
    }
    return std::move(*packet);
}

void CopyConnection::order(ckpt_copy_order_type type, std::uint64_t value,
                           std::span<const std::byte> tail, std::span<const int> passed) const
{
    const int error = send_copy_packet(connection_.get(),
                                       {.magic = 0,
                                        .version = 0,
                                        .type = static_cast<std::uint32_t>(type),
                                        .count = 0,
                                        .serial = serial_,
                                        .value = value},
                                       tail, passed);
    if (error != 0) {
        refuse(CKPT_REFUSAL_UNREADABLE_RANK, "the copy of the rank cannot be told anything: {}",
               std::strerror(error));
    }
    if (const CopyPacket answer = receive(); answer.order.type != CKPT_COPY_DONE) {
        refuse(CKPT_REFUSAL_INTERNAL_ERROR, "the copy of the rank gives the answer {}",
               answer.order.type);
    }
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

namespace
{

/* Returns the name as it goes into an order, with a NUL. */
std::string tail_of(const std::string &checkpoint)
{
    constexpr std::size_t most = sizeof(ckpt_resume_info::checkpoint);
    return checkpoint.substr(0, most - 1) + '\0';
}

} // namespace

void CopyConnection::thaw(const ThawParts &parts) const
{
    const std::string tail = tail_of(parts.checkpoint);
    std::array<int, CKPT_COPY_THAW_PARTS> passed{};
    passed[CKPT_COPY_ENVIRONMENT] = parts.environment;
    passed[CKPT_COPY_AGENT] = parts.agent;
    passed[CKPT_COPY_DIRECTORY] = parts.directory;
    order(CKPT_COPY_THAW, parts.started, std::as_bytes(std::span(tail)), passed);
}

void CopyConnection::stand(const StandParts &parts) const
{
    const std::string tail = tail_of(parts.checkpoint);
    std::array<int, CKPT_COPY_STAND_PARTS> passed{};
    passed[CKPT_COPY_STAND_ENVIRONMENT] = parts.environment;
    passed[CKPT_COPY_STAND_DIRECTORY] = parts.directory;
    order(CKPT_COPY_STAND, 0, std::as_bytes(std::span(tail)), passed);
}

void CopyConnection::await_standing() const
{
    if (const CopyPacket said = receive(); said.order.type != CKPT_COPY_STANDING) {
        refuse(CKPT_REFUSAL_INTERNAL_ERROR, "the copy of the rank says {}, and does not stand",
               said.order.type);
    }
}

void CopyConnection::go(int agent, int directory, std::uint64_t started) const
{
    std::array<int, CKPT_COPY_GO_PARTS> passed{};
    passed[CKPT_COPY_GO_AGENT] = agent;
    passed[CKPT_COPY_GO_DIRECTORY] = directory;
    order(CKPT_COPY_GO, started, {}, passed);
}

} // namespace ckpt::restart
