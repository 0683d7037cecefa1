/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_log_file.cpp - reads the log file that a rank has written.
 */
#include "config.h"
#include "image/nodefile/message_log_file.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace ckpt
{

namespace
{

std::uint64_t size_of(const Fd &fd, const std::string &path)
{
    struct stat status;
    if (::fstat(fd.get(), &status) < 0) {
        fail_errno(errno, "cannot read {}", path);
    }
    if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) {
        fail("{} is not a file of ours", path);
    }
    return static_cast<std::uint64_t>(status.st_size);
}

} // namespace

MessageLogFile::MessageLogFile(const std::filesystem::path &path)
    : path_(path.string()),
      fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK))
{
    if (fd_) {
        bytes_ = size_of(fd_, path_);
    } else if (errno != ENOENT) {
        fail_errno(errno, "cannot read {}", path_);
    }
    check_.emplace(bytes_, path_);
}

void MessageLogFile::read(std::span<std::byte> chunk)
{
    CKPT_INVARIANT(position_ <= bytes_);
    auto size = std::min<std::uint64_t>(chunk.size(), bytes_ - position_);
    int error = read_exactly(fd_.get(), chunk.data(), size, position_);

    if (error != 0) {
        fail_errno(error, "cannot read {}", path_);
    }
    std::ranges::fill(chunk.subspan(size), std::byte{0});
    check_->add(chunk.first(size));
    position_ += size;
}

std::uint64_t MessageLogFile::finish()
{
    if (fd_ && size_of(fd_, path_) != bytes_) {
        fail("{} is still being written", path_);
    }
    return check_->finish();
}

} // namespace ckpt
