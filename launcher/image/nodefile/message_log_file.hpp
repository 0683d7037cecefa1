/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_log_file.hpp - reads the log file that a rank has written, chunk by
 * chunk, and validates it.
 */
#pragma once

#include "common/fd.hpp"
#include "image/nodefile/message_log.hpp"

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
    /* Opens the log; a missing file counts as an empty log. The file must be
     * a regular file of this user. Throws Error naming the file, here and
     * below. */
    explicit MessageLogFile(const std::filesystem::path &path);

    std::uint64_t bytes() const
    {
        return bytes_;
    }

    /* Fills `chunk` with the next bytes of the log, and with zeros beyond its
     * end. */
    void read(std::span<std::byte> chunk);

    /* Ends the check when all has been read. Returns the number of messages. */
    std::uint64_t finish();

  private:
    const std::string path_;
    Fd fd_;
    std::uint64_t bytes_ = 0;
    std::uint64_t position_ = 0;
    std::optional<MessageLogCheck> check_;
};

} // namespace ckpt
