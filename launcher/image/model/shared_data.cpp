/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_data.cpp - finds holes in the memory files (tmpfs) behind shared memory.
 */
#include "config.h"
#include "image/model/shared_data.hpp"

#include "common/fd.hpp"
#include "common/invariant.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <string>

namespace ckpt
{

namespace
{

constexpr std::uint64_t page_size = 4096;

std::uint64_t page_down(std::uint64_t offset)
{
    return offset / page_size * page_size;
}

std::uint64_t page_up(std::uint64_t offset)
{
    return page_down(offset + page_size - 1);
}

/* Returns the parts of [from, to) of the file that are not holes; all of it if the file
 * system does not tell. */
PageRanges data_of_file(int fd, std::uint64_t from, std::uint64_t to)
{
    PageRanges data;
    while (from < to) {
        const off_t start = ::lseek(fd, static_cast<off_t>(from), SEEK_DATA);
        if (start < 0 && errno == ENXIO) {
            break;
        }
        const off_t end = start < 0 ? start : ::lseek(fd, start, SEEK_HOLE);
        if (end < 0) {
            append_range(data, {from, to});
            break;
        }
        const std::uint64_t first = page_down(static_cast<std::uint64_t>(start));
        const std::uint64_t last = page_up(static_cast<std::uint64_t>(end));
        if (first < to) {
            append_range(data, {std::max(first, from), std::min(last, to)});
        }
        from = last;
    }
    return data;
}

/* In other file systems reading a hole costs nothing, and some do not see data that is
 * written through a mapping. */
bool is_memory_file(int fd)
{
    struct statfs system {
    };
    return ::fstatfs(fd, &system) == 0 && system.f_type == TMPFS_MAGIC;
}

int open_if(const std::string &path, const ckpt_region &region)
{
    Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {
    };
    const bool is_it = fd && ::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                       is_memory_file(fd.get()) &&
                       (region.inode == 0 || (region.inode & CKPT_REGION_SYSTEM_V) != 0 ||
                        status.st_ino == region.inode);
    return is_it ? fd.release() : -1;
}

} // namespace

const SharedData::Mapping *SharedData::mapping_of(const ckpt_region &region)
{
    if (!is_read_) {
        std::ifstream maps(fmt::format("/proc/{}/maps", pid_));
        for (std::string line; std::getline(maps, line);) {
            Mapping mapping{};
            const char *end = line.data() + line.size();
            auto at = std::from_chars(line.data(), end, mapping.start, 16);
            if (at.ec != std::errc() || at.ptr == end) {
                continue;
            }
            at = std::from_chars(at.ptr + 1, end, mapping.end, 16);
            if (at.ec != std::errc() || end - at.ptr < 7) {
                continue;
            }
            at = std::from_chars(at.ptr + 6, end, mapping.offset, 16); /* skips " rw-s " */
            if (at.ec == std::errc()) {
                mappings_.push_back(mapping);
            }
        }
        is_read_ = true;
    }
    auto mapping = std::ranges::upper_bound(mappings_, region.start, {}, &Mapping::start);
    if (mapping == mappings_.begin() || (--mapping)->end < region.end) {
        return nullptr;
    }
    return &*mapping;
}

/* Returns a descriptor or -1. Without privileges a file without descriptor and name cannot be
 * opened. */
int SharedData::open_file(const ckpt_region &region, const Mapping &mapping) const
{
    int fd = open_if(fmt::format("/proc/{}/map_files/{:x}-{:x}", pid_, mapping.start,
                                 mapping.end),
                     region);
    if (fd >= 0 || region.inode == 0) {
        return fd;
    }
    const std::string path = image_.text(region.path);
    for (const ckpt_file &file : image_.files) {
        if (file.inode == region.inode && path == image_.text(file.path)) {
            fd = open_if(fmt::format("/proc/{}/fd/{}", pid_, file.descriptor), region);
            if (fd >= 0) {
                return fd;
            }
        }
    }
    return open_if(path, region);
}

PageRanges SharedData::of(const ckpt_region &region)
{
    const Mapping *mapping = mapping_of(region);
    const Fd fd(mapping == nullptr ? -1 : open_file(region, *mapping));
    if (!fd) {
        return {{region.start, region.end}};
    }
    CKPT_INVARIANT(mapping->start <= region.start && region.end <= mapping->end);
    const std::uint64_t from = mapping->offset + (region.start - mapping->start);
    PageRanges pages;
    const std::uint64_t to = from + (region.end - region.start);
    for (const ckpt_range &data : data_of_file(fd.get(), from, to)) {
        append_range(pages, {region.start + (data.start - from), region.start + (data.end - from)});
    }
    return pages;
}

} // namespace ckpt
