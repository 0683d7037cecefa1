/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * served_file.cpp - opens a path component by component, so that no name leads
 * elsewhere.
 */
#include "config.h"
#include "agent/blocks/served_file.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ranges>
#include <string_view>
#include <vector>

namespace ckpt::redundancy
{

namespace
{

bool is_step(std::string_view name)
{
    return !name.empty() && name != "." && name != ".." &&
           name.find('\0') == name.npos;
}

/* Returns JOB, NUMBER and FILE. */
std::vector<std::string> steps_of(const std::string &path)
{
    std::vector<std::string> steps;

    for (const auto step : std::views::split(path, '/')) {
        steps.emplace_back(step.begin(), step.end());
    }
    if (steps.size() != 3 || !std::ranges::all_of(steps, is_step)) {
        fail("'{}' is not JOB/NUMBER/FILE", path);
    }
    return steps;
}

/* Returns the status. Fails if another user owns the file. */
struct stat own_status(int fd, const std::string &path)
{
    struct stat status;

    if (::fstat(fd, &status) < 0) {
        fail_errno(errno, "cannot read {}", path);
    }
    if (status.st_uid != ::geteuid()) {
        fail("{} belongs to uid {}", path, status.st_uid);
    }
    return status;
}

Fd open_step(int directory, const std::string &name, int flags, const std::string &path)
{
    Fd fd(::openat(directory, name.c_str(),
                   flags | O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));

    if (!fd) {
        fail_errno(errno, "cannot open {}", path);
    }
    return fd;
}

} // namespace

ServedFile::ServedFile(const std::filesystem::path &root, const std::string &path)
    : path_(path)
{
    const auto steps = steps_of(path);
    Fd directory = open_file(root, O_RDONLY | O_DIRECTORY, 0, "directory");

    for (std::size_t i = 0; i + 1 < steps.size(); i++) {
        directory = open_step(directory.get(), steps[i], O_DIRECTORY, path);
        (void)own_status(directory.get(), path);
    }
    fd_ = open_step(directory.get(), steps.back(), 0, path);
    const struct stat status = own_status(fd_.get(), path);
    if (!S_ISREG(status.st_mode)) {
        fail("{} is not a regular file", path);
    }
    identity_ = {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size)};
}

void ServedFile::read(std::uint64_t offset, std::span<std::byte> into) const
{
    CKPT_EXPECT(offset <= size() && into.size() <= size() - offset);
    if (int error = read_exactly(fd_.get(), into.data(), into.size(), offset)) {
        fail_errno(error, "cannot read {}", path_);
    }
}

} // namespace ckpt::redundancy
