/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inherited_descriptors.cpp - closes descriptors that a shell or batch system
 * has left open.
 */
#include "cli/base/inherited_descriptors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace ckpt::cli
{

namespace
{

std::vector<int> open_descriptors()
{
    std::vector<int> found;
    std::error_code error;
    for (const auto &entry : fs::directory_iterator("/proc/self/fd", error)) {
        found.push_back(std::stoi(entry.path().filename()));
    }
    return found;
}

bool leads_to_others(int fd)
{
    struct stat status {
    };
    return fstat(fd, &status) == 0 &&
           (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) ||
            isatty(fd) == 1);
}

bool is_named(int fd, const Words &command)
{
    return std::ranges::any_of(command, [&](const std::string &word) {
        return word.ends_with(fmt::format("/fd/{}", fd));
    });
}

} // namespace

void close_inherited_descriptors(const Words &command)
{
    for (int fd : open_descriptors()) {
        if (fd > STDERR_FILENO && leads_to_others(fd) && !is_named(fd, command)) {
            fcntl(fd, F_SETFD, FD_CLOEXEC);
        }
    }
}

} // namespace ckpt::cli
