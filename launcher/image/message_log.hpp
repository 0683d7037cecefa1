/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_log.hpp - the log of a rank: messages that crossed a cut, as struct
 * ckpt_logged_message in ckpt/wire.h, one after the other.
 */
#pragma once

#include "ckpt/wire.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace ckpt
{

/* Where a rank writes its log while a checkpoint is under way. */
std::filesystem::path message_log_path(const std::filesystem::path &directory,
                                       int rank);

/* Looks at all bytes of a log, which may come in parts of any size. */
class MessageLogCheck
{
  public:
    /* bytes: of the whole log; whose: begins the text of each error. */
    MessageLogCheck(std::uint64_t bytes, std::string whose);

    /* Throws Error at a record that is not one, is not all there or is not
     * followed by zeros up to a multiple of 8 bytes. */
    void add(std::span<const std::byte> part);

    /* After the last part; throws Error if one is missing or if two messages
     * have the same order. Returns the number of messages. */
    std::uint64_t finish();

  private:
    void take_header(std::span<const std::byte> &part);
    void check_header();
    void take_padding(std::span<const std::byte> &part);

    std::string whose_;
    std::uint64_t left_;         /* bytes of the log yet to come */
    std::uint64_t position_ = 0; /* of the present record */
    ckpt_logged_message header_ = {};
    std::size_t header_size_ = 0; /* bytes of it that have come */
    std::uint64_t content_ = 0;   /* bytes of the message yet to come */
    std::uint64_t padding_ = 0;   /* and of the zeros behind it */
    std::vector<std::uint64_t> orders_;
};

} // namespace ckpt
