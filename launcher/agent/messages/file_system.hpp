/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_system.hpp - the file system of a directory, as far as it matters to
 * nodes that write there at the same time. It is found in the table of mounts,
 * with libmount.
 */
#pragma once

#include <filesystem>
#include <string>

namespace ckpt
{

struct FileSystem {
    enum class Kind {
        local,   /* the node's own, or not known to be shared */
        server,  /* shared, with one server: nfs, cifs, 9p, sshfs, ... */
        parallel /* made for many nodes that write at once: lustre, gpfs, ... */
    };
    Kind kind = Kind::local;
    std::string source; /* the mounted source: "server:/export" */

    /* Names the single server that several nodes share; empty: there is
     * none. */
    std::string server() const
    {
        return kind == Kind::server ? source : std::string();
    }
    bool operator==(const FileSystem &) const = default;
};

/* "local", "server" or "parallel" */
const char *kind_name(FileSystem::Kind kind);

/*
 * Returns the file system of `directory`, which need not exist yet. Normal
 * context; asks the file system for symbolic links. `mounts` is a table such as
 * /proc/self/mountinfo (proc(5)). If anything cannot be found out, or neither
 * libmount nor this list knows the type, the result is local. Then the nodes
 * write at the same time, which is never wrong. Unnecessary turns would make a
 * checkpoint longer with each node.
 */
FileSystem file_system_of(const std::filesystem::path &directory,
                          const char *mounts = "/proc/self/mountinfo");

} // namespace ckpt
