/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thaw_obstacles.cpp - examines the description, the mappings and the files of a frozen copy.
 */
#include "config.h"
#include "restart/thaw_obstacles.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/processes.hpp"
#include "image/memory/connections.hpp"
#include "image/model/file_identity.hpp"

#include "ckpt/input.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt::restart
{

namespace
{

constexpr std::int64_t second = 1'000'000'000;
/* pipe(7): the default capacity */
constexpr std::uint64_t pipe_size = 65536;

bool is_mapped_file(const ckpt_region &region)
{
    return region.kind == CKPT_REGION_FILE || region.kind == CKPT_REGION_FILE_SHARED;
}

bool is_unchangeable(const ckpt_region &region)
{
    return region.kind == CKPT_REGION_FILE && region.device == 0 &&
           region.mode == CKPT_REGION_UNCHANGEABLE;
}

[[noreturn]] void refuse_memory(const RankImage &image, const ckpt_region &region,
                                ckpt_refusal identity, std::string_view what)
{
    const std::string_view name = image.text(region.path);
    refuse(identity, "memory {:x}-{:x} ({}) is not as it was: {}", region.start, region.end,
           name.empty() ? "no name" : name, what);
}

/* ---- Memory ----------------------------------------------------------------------- */

void require_own_memory(const RankImage &image, bool is_replayed)
{
    for (const ckpt_region &region : image.regions) {
        const bool is_shared =
            region.kind == CKPT_REGION_SHARED || region.kind == CKPT_REGION_SHARED_ELSEWHERE;
        if (is_shared && !is_replayed) {
            refuse_memory(image, region, CKPT_REFUSAL_SHARED_DESCRIPTOR,
                          "the copy shares it with other processes, which have run on");
        }
        if (region.kind == CKPT_REGION_FILE_CONTENT) {
            refuse_memory(image, region, CKPT_REFUSAL_CHANGED_FILE,
                          "it is that of a file, which the program may have changed");
        }
    }
}

struct Mapping {
    ckpt_range range;
    bool is_shared;
    std::string name;
};

/* Returns the process's mappings by ascending address. */
std::vector<Mapping> mappings_of(pid_t pid)
{
    std::ifstream file(fmt::format("/proc/{}/maps", pid));
    std::vector<Mapping> mappings;
    for (std::string line; std::getline(file, line);) {
        Mapping mapping{};
        std::array<char, 5> rights{};
        int name = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx %4s %*x %*s %*u %n", &mapping.range.start,
                        &mapping.range.end, rights.data(), &name) < 3) {
            refuse(CKPT_REFUSAL_UNREADABLE_RANK,
                   "the mappings of process {} are not understood: {}", pid, line);
        }
        mapping.is_shared = rights[3] == 's';
        mapping.name = line.substr(std::min(static_cast<std::size_t>(name), line.size()));
        mappings.push_back(std::move(mapping));
    }
    if (mappings.empty()) {
        refuse(CKPT_REFUSAL_UNREADABLE_RANK, "the copy {} of the rank has ended", pid);
    }
    return mappings;
}

/* The copy has all described memory; and private memory is not shared with the program that runs
 * on, except the rank page, of which the content does not count. A rank that is replayed has made
 * a copy of its part of windows; it describes those of others without content. */
void require_mapped(const RankImage &image, pid_t pid, bool is_replayed)
{
    const std::vector<Mapping> mappings = mappings_of(pid);
    auto at = mappings.begin();
    for (const ckpt_region &region : image.regions) {
        std::uint64_t reached = region.start;
        while (at != mappings.end() && at->range.end <= region.start) {
            ++at;
        }
        for (auto next = at; next != mappings.end() && next->range.start <= reached &&
                             reached < region.end;
             ++next) {
            if (!is_replayed && next->is_shared && may_be_packed(region) &&
                !next->name.starts_with("/memfd:ckpt-rank-page")) {
                refuse_memory(image, region, CKPT_REFUSAL_SHARED_DESCRIPTOR,
                              "the copy shares it with the process that ran on");
            }
            reached = next->range.end;
        }
        if (reached < region.end) {
            refuse_memory(image, region, CKPT_REFUSAL_UNSAVABLE_MEMORY,
                          "the copy does not have it");
        }
    }
}

std::int64_t now(clockid_t clock)
{
    timespec time{};
    ::clock_gettime(clock, &time);
    return time.tv_sec * second + time.tv_nsec;
}

/* Returns when the process began, CLOCK_REALTIME in ns, to within a tick. */
std::int64_t start_of(pid_t pid)
{
    const std::string identity = process_identity(pid);
    const std::size_t dash = identity.find('-');
    std::int64_t ticks = 0;
    if (dash == std::string::npos ||
        std::from_chars(identity.data() + dash + 1, identity.data() + identity.size(), ticks).ec !=
            std::errc()) {
        refuse(CKPT_REFUSAL_UNREADABLE_RANK, "the copy {} of the rank has ended", pid);
    }
    const std::int64_t since_boot = ticks * (second / ::sysconf(_SC_CLK_TCK));
    return now(CLOCK_REALTIME) - now(CLOCK_BOOTTIME) + since_boot;
}

/* The copy still maps the files themselves. So they must not have changed since the copy was made;
 * a file that was changed in the second before counts as changed, too. */
void require_unchanged_files(const RankImage &image, pid_t pid)
{
    const std::int64_t made = start_of(pid) - second;
    std::set<std::string_view> seen;
    for (const ckpt_region &region : image.regions) {
        if (!is_mapped_file(region) || is_unchangeable(region)) {
            continue;
        }
        const std::string path = image.text(region.path);
        struct stat status {
        };
        if (region.device == 0 || !leads_to_mapped_file(region, path)) {
            refuse_memory(image, region, CKPT_REFUSAL_CHANGED_FILE,
                          "its file has been deleted or replaced");
        }
        if (!seen.insert(image.text(region.path)).second) {
            continue;
        }
        if (::stat(path.c_str(), &status) != 0 ||
            status.st_ctim.tv_sec * second + status.st_ctim.tv_nsec > made) {
            refuse_memory(image, region, CKPT_REFUSAL_CHANGED_FILE, "its file has changed");
        }
    }
}

/* ---- Descriptors ------------------------------------------------------------------ */

[[noreturn]] void refuse_descriptor(const RankImage &image, const ckpt_file &file,
                                    ckpt_refusal identity, std::string_view what)
{
    refuse(identity, "descriptor {} ({}) cannot come back in a copy: {}", file.descriptor,
           image.text(file.path), what);
}

/* The program has read from an input that goes on. The bytes do not come again. */
void require_ended_input(const RankImage &image, const ckpt_file &file)
{
    const bool is_input = file.kind == CKPT_FILE_STREAM && file.detail == 0;
    if (!is_input || (file.value & CKPT_INPUT_SAVED) == 0 || (file.value & CKPT_INPUT_SAME) != 0) {
        return;
    }
    if ((file.value & CKPT_INPUT_ENDED) == 0 || file.payload_size > pipe_size) {
        refuse_descriptor(image, file, CKPT_REFUSAL_OUTSIDE_CONNECTION,
                          "it is the standard input, which has not ended");
    }
}

void require_no_signals(const RankImage &image, const ckpt_file &file,
                        std::span<const ckpt_epoll_watch> watches)
{
    for (const ckpt_epoll_watch &watch : watches) {
        auto watched = std::ranges::find(image.files, watch.descriptor, &ckpt_file::descriptor);
        if (watched != image.files.end() && watched->kind == CKPT_FILE_SIGNALFD) {
            refuse_descriptor(image, file, CKPT_REFUSAL_UNSAVABLE_DESCRIPTOR,
                              fmt::format("it watches a signalfd, descriptor {}",
                                          watch.descriptor));
        }
    }
}

void require_own_descriptors(const RankImage &image)
{
    RankImage completed = image; /* the agent's part */
    Connections connections;
    connections.survey(image, image.snapshot.rank);
    connections.distribute(completed, image.snapshot.rank);
    for (const ckpt_file &file : completed.files) {
        if (file.sharers > 1) {
            refuse_descriptor(image, file, CKPT_REFUSAL_SHARED_DESCRIPTOR, "ranks share it");
        }
        require_ended_input(image, file);
    }
}

/* The kernel tells an epoll of signals of the process that has added the signalfd. */
void require_no_watched_signals(const RankImage &image, const SavedPayloads &payloads)
{
    for (const ckpt_file &file : image.files) {
        if (file.kind == CKPT_FILE_EPOLL && file.same_as < 0 && file.payload_size != 0) {
            require_no_signals(image, file, payloads.array<ckpt_epoll_watch>(file));
        }
    }
}

} // namespace

void require_thawable(const RankImage &image, const SavedPayloads &payloads, pid_t pid,
                      bool is_replayed)
{
    CKPT_EXPECT(pid > 0);
    require_own_memory(image, is_replayed);
    require_mapped(image, pid, is_replayed);
    require_unchanged_files(image, pid);
    require_own_descriptors(image);
    require_no_watched_signals(image, payloads);
}

} // namespace ckpt::restart
