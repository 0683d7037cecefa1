/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_log.hpp - the log of a rank: messages that crossed a cut, each a
 * struct ckpt_logged_message (ckpt/wire.h), one after the other.
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

/* Returns the path where a rank writes its log during a checkpoint. */
std::filesystem::path message_log_path(const std::filesystem::path &directory,
                                       int rank);

/* Validates all bytes of a log, which may come in parts of any size. */
class MessageLogCheck
{
  public:
    /* bytes: of the whole log; whose: the start of the text of each error. */
    MessageLogCheck(std::uint64_t bytes, std::string whose);

    /* Throws Error at a record that is invalid, incomplete, or not padded with
     * zeros to a multiple of 8 bytes. */
    void add(std::span<const std::byte> part);

    /* Ends the check after the last part. Returns the number of messages.
     * Throws Error if the log is incomplete or if two messages have the same
     * order number. */
    std::uint64_t finish();

  private:
    void take_header(std::span<const std::byte> &part);
    void check_header();
    void take_padding(std::span<const std::byte> &part);

    std::string whose_;
    std::uint64_t left_;         /* bytes of the log still to come */
    std::uint64_t position_ = 0; /* of the current record in the log */
    ckpt_logged_message header_ = {};
    std::size_t header_size_ = 0; /* bytes of the header received so far */
    std::uint64_t content_ = 0;   /* bytes of the message still to come */
    std::uint64_t padding_ = 0;   /* zero bytes of padding still to come */
    std::vector<std::uint64_t> orders_;
};

} // namespace ckpt
