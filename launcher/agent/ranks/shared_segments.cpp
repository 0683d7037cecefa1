/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_segments.cpp - finds and removes Open MPI's files in /dev/shm.
 */
#include "agent/ranks/shared_segments.hpp"

#include "common/pidfd.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <string>

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ckpt
{

namespace
{

/* Names that btl/vader (4.1) and btl/sm (5.0) of Open MPI, and MPICH, use. Files of the program
 * do not match. */
constexpr const char *prefixes[] = {"/dev/shm/vader_segment.",
                                    "/dev/shm/sm_segment.",
                                    "/dev/shm/mpich_shm_",
                                    "/dev/shm/mpich_shar_tmp"};

/* Returns the path at the end of a line of /proc/PID/maps, if it is a segment's. */
std::optional<std::string> segment_in(const std::string &line)
{
    for (const char *prefix : prefixes) {
        std::size_t at = line.find(prefix);
        if (at != line.npos) {
            return line.substr(at);
        }
    }
    return std::nullopt;
}

constexpr auto longest_death = std::chrono::seconds(1);

bool have_ended(const std::vector<Fd> &processes)
{
    using std::chrono::steady_clock;
    const auto end = steady_clock::now() + longest_death;

    return std::all_of(processes.begin(), processes.end(), [&](const Fd &fd) {
        auto left = std::chrono::ceil<std::chrono::milliseconds>(
            end - steady_clock::now());
        pollfd process = {fd.get(), POLLIN, 0};
        return poll(&process, 1, std::max<int>(0, left.count())) == 1;
    });
}

} // namespace

void SharedSegments::note(pid_t rank)
{
    std::ifstream maps(fmt::format("/proc/{}/maps", rank));
    std::string line;

    if (Fd process = open_pidfd(rank)) {
        ranks_.push_back(std::move(process));
    }
    while (std::getline(maps, line)) {
        struct stat status {
        };
        auto path = segment_in(line);
        if (!path || ::stat(path->c_str(), &status) != 0 ||
            status.st_uid != ::geteuid()) {
            continue;
        }
        bool known = std::any_of(
            segments_.begin(), segments_.end(), [&](const Segment &segment) {
                return segment.inode == status.st_ino &&
                       segment.device == status.st_dev;
            });
        if (!known) {
            segments_.push_back({*path, status.st_dev, status.st_ino});
        }
    }
}

void SharedSegments::remove_leftovers() const
{
    if (segments_.empty() || !have_ended(ranks_)) {
        return;
    }
    for (const Segment &segment : segments_) {
        struct stat status {
        };
        if (::stat(segment.path.c_str(), &status) == 0 &&
            status.st_ino == segment.inode && status.st_dev == segment.device &&
            ::unlink(segment.path.c_str()) == 0) {
            spdlog::info("removed {}", segment.path.string());
        }
    }
}

} // namespace ckpt
