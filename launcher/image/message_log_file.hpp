/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_log_file.hpp - reads the log that a rank has written, chunk by chunk,
 * and checks it.
 */
#pragma once

#include "common/fd.hpp"
#include "image/message_log.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace ckpt
{

class MessageLogFile
{
  public:
    /* One that is not there is empty. Throws Error naming the file, here and
     * below; it must be a regular one that belongs to us. */
    explicit MessageLogFile(const std::filesystem::path &path);

    std::uint64_t bytes() const
    {
        return bytes_;
    }

    /* Fills `chunk` with the next bytes, and with zeros behind the end. */
    void read(std::span<std::byte> chunk);

    /* When all has been read: the number of messages. */
    std::uint64_t finish();

  private:
    const std::string path_;
    Fd fd_;
    std::uint64_t bytes_ = 0;
    std::uint64_t position_ = 0;
    std::optional<MessageLogCheck> check_;
};

} // namespace ckpt
