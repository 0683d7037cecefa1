/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_system.cpp - finds the file system of a directory.
 */
#include "agent/messages/file_system.hpp"

#include <libmount.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <system_error>

namespace ckpt
{

namespace
{

/* Types that store their data on many servers. All other types that libmount
 * knows as network file systems (this depends on its version) have one
 * server. */
constexpr std::array<std::string_view, 13> parallel_types{
    "lustre", "gpfs", "beegfs", "beegfs_nodev",
    "ceph", "pvfs2", "panfs", "wekafs",
    "glusterfs", "fuse.ceph", "fuse.ceph-fuse", "fuse.glusterfs",
    "fuse.juicefs"};

FileSystem::Kind kind_of(const char *type)
{
    const auto &known = parallel_types;

    if (std::find(known.begin(), known.end(), type) != known.end()) {
        return FileSystem::Kind::parallel;
    }
    return mnt_fstype_is_netfs(type) == 1 ? FileSystem::Kind::server
                                          : FileSystem::Kind::local;
}

/* Returns the innermost mount of a path. If several mounts are at one place,
 * the last one hides the others. libmount's own search also asks the kernel
 * about each path, which fails for a directory that does not exist yet. */
libmnt_fs *entry_of(libmnt_table *table, std::filesystem::path path)
{
    for (;; path = path.parent_path()) {
        libmnt_fs *entry =
            mnt_table_find_target(table, path.c_str(), MNT_ITER_BACKWARD);
        if (entry != nullptr || !path.has_relative_path()) {
            return entry;
        }
    }
}

} // namespace

const char *kind_name(FileSystem::Kind kind)
{
    switch (kind) {
    case FileSystem::Kind::server:
        return "server";
    case FileSystem::Kind::parallel:
        return "parallel";
    default:
        return "local";
    }
}

FileSystem file_system_of(const std::filesystem::path &directory,
                          const char *mounts)
{
    std::unique_ptr<libmnt_table, void (*)(libmnt_table *)> table(
        mnt_new_table(), mnt_unref_table);
    std::error_code error;
    auto path = std::filesystem::weakly_canonical(directory, error);

    if (error || !table || mnt_table_parse_file(table.get(), mounts) != 0) {
        return {};
    }
    libmnt_fs *entry = entry_of(table.get(), path);
    const char *type = entry == nullptr ? nullptr : mnt_fs_get_fstype(entry);
    const char *source = entry == nullptr ? nullptr : mnt_fs_get_source(entry);
    if (type == nullptr || source == nullptr) {
        return {};
    }
    return {kind_of(type), source};
}

} // namespace ckpt
