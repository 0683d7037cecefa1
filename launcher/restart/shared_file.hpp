/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_file.hpp - recreates files that ranks share through mappings.
 */
#pragma once

#include "common/fd.hpp"

#include <cstdint>
#include <string>

namespace ckpt::restart
{

/*
 * Creates the file with this mode, whatever the umask is, and opens it for reading and writing.
 * If that is impossible, for example because the file exists, returns no descriptor and sets
 * errno. Throws Error if the mode cannot be set.
 */
Fd create_shared_file(const std::string &path, std::uint32_t mode);

/*
 * Opens the file for reading and writing. Creates a file without a name, or a
 * missing named file with `mode`. No process may have an existing object of
 * POSIX shared memory mapped. Throws Error naming the file.
 */
Fd open_shared_file(const std::string &path, std::uint32_t mode,
                    std::uint64_t size);

/* Whether the "inode" of a region identifies System V shared memory. */
bool is_system_v(std::uint64_t inode);

/* Creates the object under its id, or takes over an existing one. Throws Error
 * naming the id. */
void make_system_v(const std::string &path, std::uint64_t inode,
                   std::uint32_t mode, std::uint64_t size);

} // namespace ckpt::restart
