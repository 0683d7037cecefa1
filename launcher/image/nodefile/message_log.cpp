/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_log.cpp - the rules that every message log must meet.
 */
#include "config.h"
#include "image/nodefile/message_log.hpp"

#include "common/bytes.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"
#include "image/model/checkpoint_names.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ckpt
{

namespace
{

constexpr std::uint64_t alignment = 8;
static_assert(sizeof(ckpt_logged_message) % alignment == 0); /* each message begins aligned */

} // namespace

std::filesystem::path message_log_path(const std::filesystem::path &directory,
                                       int rank)
{
    return directory / message_log_name(rank);
}

MessageLogCheck::MessageLogCheck(std::uint64_t bytes, std::string whose)
    : whose_(std::move(whose)), left_(bytes)
{
}

void MessageLogCheck::add(std::span<const std::byte> part)
{
    if (part.size() > left_) {
        fail("{} is longer than it was", whose_);
    }
    while (!part.empty()) {
        if (content_ > 0) {
            auto size = std::min<std::uint64_t>(content_, part.size());
            part = part.subspan(size);
            content_ -= size;
            left_ -= size;
        } else if (padding_ > 0) {
            take_padding(part);
        } else {
            take_header(part);
        }
    }
}

void MessageLogCheck::take_header(std::span<const std::byte> &part)
{
    CKPT_INVARIANT(header_size_ < sizeof(header_) && content_ == 0 && padding_ == 0);
    std::size_t size = std::min(sizeof(header_) - header_size_, part.size());
    auto *header = reinterpret_cast<std::byte *>(&header_);

    std::ranges::copy(part.first(size), header + header_size_);
    part = part.subspan(size);
    header_size_ += size;
    left_ -= size;
    if (header_size_ == sizeof(header_)) {
        check_header();
        header_size_ = 0;
    }
}

void MessageLogCheck::check_header()
{
    if (header_.magic != CKPT_LOGGED_MAGIC || header_.reserved != 0 ||
        header_.source < 0) {
        fail("{} is damaged: there is no message at byte {}", whose_,
             position_);
    }
    std::uint64_t rest = header_.size % alignment;
    padding_ = rest == 0 ? 0 : alignment - rest;
    if (header_.size > left_ || padding_ > left_ - header_.size) {
        fail("{} is truncated: it ends within the message at byte {}", whose_,
             position_);
    }
    content_ = header_.size;
    position_ += sizeof(header_) + content_ + padding_;
    orders_.push_back(header_.order);
}

void MessageLogCheck::take_padding(std::span<const std::byte> &part)
{
    auto size = std::min<std::uint64_t>(padding_, part.size());

    if (!is_all_zero(part.first(size))) {
        fail("{} is damaged: there is something between the messages before "
             "byte {}",
             whose_, position_);
    }
    part = part.subspan(size);
    padding_ -= size;
    left_ -= size;
}

std::uint64_t MessageLogCheck::finish()
{
    if (left_ > 0 || header_size_ > 0) {
        fail("{} is truncated: it ends within the message at byte {}", whose_,
             position_);
    }
    std::ranges::sort(orders_);
    auto twice = std::ranges::adjacent_find(orders_);
    if (twice != orders_.end()) {
        fail("{} is damaged: two messages are number {}", whose_, *twice);
    }
    return orders_.size();
}

} // namespace ckpt
