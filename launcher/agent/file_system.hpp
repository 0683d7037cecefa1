/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_system.hpp - which file system a directory lies on, as far as it matters
 * to nodes that write there at the same time. From the table of mounts, by
 * libmount.
 */
#pragma once

#include <filesystem>
#include <string>

namespace ckpt
{

struct FileSystem {
    enum class Kind {
        local,   /* the node's own, or not known to be shared */
        server,  /* one server is behind it: nfs, cifs, 9p, sshfs, ... */
        parallel /* made for many nodes that write at once: lustre, gpfs, ... */
    };
    Kind kind = Kind::local;
    std::string source; /* as it was mounted: "server:/export" */

    /* What nodes have in common that one server stores for; empty: nothing. */
    std::string server() const
    {
        return kind == Kind::server ? source : std::string();
    }
    bool operator==(const FileSystem &) const = default;
};

/* "local", "server" or "parallel" */
const char *kind_name(FileSystem::Kind kind);

/*
 * That of `directory`, which need not exist yet. Normal context; asks the file
 * system for symbolic links. `mounts` is a table as /proc/self/mountinfo
 * (proc(5)). What cannot be found out is local: nodes then write at the same
 * time, which is never wrong, while turns that nobody needs make a checkpoint
 * longer with each node. For the same reason a type that neither libmount nor
 * we have heard of is local.
 */
FileSystem file_system_of(const std::filesystem::path &directory,
                          const char *mounts = "/proc/self/mountinfo");

} // namespace ckpt
