/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_identity.cpp - describes mapped files, and checks whether they have
 * changed.
 */
#include "config.h"
#include "image/model/file_identity.hpp"

#include "common/checksum.hpp"
#include "common/error.hpp"
#include "common/files/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

namespace ckpt
{

namespace
{

struct stat status_of(int fd, const std::string &path)
{
    struct stat status;
    if (::fstat(fd, &status) < 0) {
        fail_errno(errno, "cannot read mapped file {}", path);
    }
    return status;
}

std::int64_t mtime_of(const struct stat &status)
{
    return status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
}

bool is_file_of(const ckpt_region &region, const struct stat &status)
{
    return S_ISREG(status.st_mode) && status.st_dev == region.device &&
           status.st_ino == region.inode;
}

/* Returns the XXH3-64 of the file's bytes that the region maps; the part beyond
 * the end of the file is left out. */
std::uint64_t checksum_mapped_bytes(int fd, const std::string &path,
                                    const ckpt_region &region,
                                    std::uint64_t file_size)
{
    std::uint64_t offset = std::min(region.file_offset, file_size);
    std::uint64_t end =
        std::min(region.file_offset + (region.end - region.start), file_size);
    Checksum checksum;
    int error = checksum.add_file(fd, offset, end);
    if (error != 0) {
        fail_errno(error, "cannot read mapped file {}", path);
    }
    return checksum.value();
}

} // namespace

bool leads_to_mapped_file(const ckpt_region &region, const std::string &path)
{
    struct stat status;
    return ::stat(path.c_str(), &status) == 0 && is_file_of(region, status);
}

FileReference FileIdentities::describe(const ckpt_region &region,
                                       const std::string &path)
{
    Fd fd = open_file(path, O_RDONLY, 0, "mapped file");
    struct stat status = status_of(fd.get(), path);
    if (!is_file_of(region, status)) {
        fail("mapped file {} was replaced while it was being saved", path);
    }
    FileReference reference;
    reference.size = static_cast<std::uint64_t>(status.st_size);
    reference.mtime_ns = mtime_of(status);

    Key key{status.st_dev, status.st_ino, reference.size,
            reference.mtime_ns, region.file_offset, region.end - region.start};
    {
        std::lock_guard lock(mutex_);
        auto known = checksums_.find(key);
        if (known != checksums_.end()) {
            reference.checksum = known->second;
            return reference;
        }
    }
    reference.checksum =
        checksum_mapped_bytes(fd.get(), path, region, reference.size);
    struct stat after = status_of(fd.get(), path);
    if (mtime_of(after) != reference.mtime_ns ||
        after.st_size != status.st_size) {
        refuse(CKPT_REFUSAL_CHANGED_FILE, "mapped file {} changed while it was being saved",
               path);
    }
    std::lock_guard lock(mutex_);
    checksums_.emplace(key, reference.checksum);
    return reference;
}

void require_same_file(const std::string &path, const ckpt_region &region,
                       const FileReference &reference)
{
    Fd fd = open_file(path, O_RDONLY, 0, "mapped file");
    struct stat status = status_of(fd.get(), path);
    auto size = static_cast<std::uint64_t>(status.st_size);
    if (size == reference.size && mtime_of(status) == reference.mtime_ns) {
        return;
    }
    if (size != reference.size) {
        refuse(CKPT_REFUSAL_CHANGED_FILE,
               "{} is not the file it was at the checkpoint: {} bytes, then {}", path, size,
               reference.size);
    }
    if (checksum_mapped_bytes(fd.get(), path, region, size) !=
        reference.checksum) {
        refuse(CKPT_REFUSAL_CHANGED_FILE,
               "{} is not the file it was at the checkpoint: its content differs", path);
    }
}

} // namespace ckpt
