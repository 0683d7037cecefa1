/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mapped_file.cpp - finds the length of files that a process has mapped.
 */
#include "config.h"
#include "image/memory/mapped_file.hpp"

#include "common/invariant.hpp"

#include <fmt/format.h>

#include <sys/stat.h>

#include <cstring>
#include <optional>
#include <string>

namespace ckpt
{

namespace
{

constexpr std::uint64_t page_size = 4096;

/* Returns the size of the file at `path` if it is the file that the region
 * maps. */
std::optional<std::uint64_t> size_at(const std::string &path, const ckpt_region &region)
{
    struct stat status;
    const bool is_private = region.kind == CKPT_REGION_FILE && region.device != 0;
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_ino != region.inode || (is_private && status.st_dev != region.device)) {
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(status.st_size);
}

std::optional<std::uint64_t> size_of_file(const RankImage &image, const ckpt_region &region,
                                          pid_t pid)
{
    if (region.kind == CKPT_REGION_SHARED && region.mode != 0) {
        return region.device; /* the object has a name or an id */
    }
    const char *path = image.text(region.path);
    std::optional<std::uint64_t> size = size_at(path, region);
    for (const ckpt_file &file : image.files) {
        if (!size && file.inode == region.inode &&
            std::strcmp(image.text(file.path), path) == 0) {
            size = size_at(fmt::format("/proc/{}/fd/{}", pid, file.descriptor), region);
        }
    }
    return size ? size
                : size_at(fmt::format("/proc/{}/map_files/{:x}-{:x}", pid, region.start,
                                      region.end),
                          region);
}

std::uint64_t end_of_file(const RankImage &image, const ckpt_region &region, pid_t pid)
{
    const std::optional<std::uint64_t> size = size_of_file(image, region, pid);
    if (!size) {
        return UINT64_MAX;
    }
    const std::uint64_t there = *size > region.file_offset ? *size - region.file_offset : 0;
    return there >= region.end - region.start
               ? region.end
               : region.start + (there + page_size - 1) / page_size * page_size;
}

} // namespace

void find_ends_of_files(ChunkPlan &plan, const RankImage &image, pid_t pid)
{
    std::uint32_t last = UINT32_MAX;
    std::uint64_t end = 0;
    for (ChunkJob &job : plan.jobs) {
        if (job.is_file && job.region != last) {
            CKPT_EXPECT(job.region < image.regions.size());
            last = job.region;
            end = end_of_file(image, image.regions[last], pid);
        }
        if (job.is_file) {
            job.end_of_file = end;
        }
    }
}

} // namespace ckpt
