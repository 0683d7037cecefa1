/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_source.cpp - reads the files of a member on this node.
 */
#include "config.h"
#include "redundancy/block_source.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

namespace ckpt::redundancy
{

void BlockSource::announce(const std::string &, std::uint64_t, std::uint64_t)
{
}

int LocalSource::descriptor_of(const std::string &file)
{
    if (!open_file_ || open_name_ != file) {
        open_file_ = open_file(directory_ / file, O_RDONLY | O_NOFOLLOW, 0, "file");
        open_name_ = file;
    }
    return open_file_.get();
}

std::uint64_t LocalSource::size(const std::string &file)
{
    struct stat status;

    if (::fstat(descriptor_of(file), &status) < 0) {
        fail_errno(errno, "cannot read {}", (directory_ / file).string());
    }
    if (!S_ISREG(status.st_mode)) {
        fail("{} is not a regular file", (directory_ / file).string());
    }
    return static_cast<std::uint64_t>(status.st_size);
}

void LocalSource::read(const std::string &file, std::uint64_t offset,
                       std::span<std::byte> into)
{
    const std::uint64_t end = size(file);
    const std::uint64_t there =
        std::min<std::uint64_t>(into.size(), end - std::min(end, offset));

    if (int error = read_exactly(open_file_.get(), into.data(), there, offset)) {
        fail_errno(error, "cannot read {}", (directory_ / file).string());
    }
    std::ranges::fill(into.subspan(there), std::byte{0});
}

} // namespace ckpt::redundancy
