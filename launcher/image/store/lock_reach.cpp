/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock_reach.cpp - whether a file's locks are visible on all hosts that see the
 * file.
 */
#include "config.h"
#include "image/store/lock_reach.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>

namespace ckpt
{

namespace
{

/* Magic numbers of file systems; linux/magic.h does not have all. */
constexpr std::array<unsigned long, 9> of_one_host = {
    EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
    TMPFS_MAGIC, RAMFS_MAGIC, OVERLAYFS_SUPER_MAGIC,
    F2FS_SUPER_MAGIC, 0x2fc12fc1 /* ZFS */, 0xca451a4e /* bcachefs */};
constexpr std::array<unsigned long, 3> of_many_hosts = {
    NFS_SUPER_MAGIC, CEPH_SUPER_MAGIC, 0x47504653 /* GPFS */};

/* nfs(5): local_lock=flock only keeps flock(2) locks local; fcntl(2) locks still
 * go to the server. */
bool are_locks_local(int fd)
{
    struct statx status {
    };
    if (::statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) < 0 ||
        (status.stx_mask & STATX_MNT_ID) == 0) {
        return true;
    }
    const std::string start = fmt::format("{} ", status.stx_mnt_id);
    std::ifstream mounts("/proc/self/mountinfo");
    for (std::string line; std::getline(mounts, line);) {
        if (line.starts_with(start)) {
            return line.find("local_lock=all") != std::string::npos ||
                   line.find("local_lock=posix") != std::string::npos ||
                   line.find(",nolock") != std::string::npos;
        }
    }
    return true;
}

} // namespace

bool locks_reach_other_hosts(int fd)
{
    struct statfs status {
    };

    if (::fstatfs(fd, &status) < 0) {
        return false;
    }
    const auto type = static_cast<unsigned long>(status.f_type) & 0xffffffff;
    return std::ranges::find(of_one_host, type) != of_one_host.end() ||
           (std::ranges::find(of_many_hosts, type) != of_many_hosts.end() &&
            !are_locks_local(fd));
}

} // namespace ckpt
