/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_file.hpp - make a file again that ranks share by way of memory.
 */
#pragma once

#include "common/fd.hpp"

#include <cstdint>
#include <string>

namespace ckpt::restart
{

/*
 * Opens the file for reading and writing. One that has no name is made without
 * a name. One that has is made with `mode` if it is not there; an object of
 * POSIX shared memory must not be in the memory of any process.
 * Throws Error naming the file.
 */
Fd open_shared_file(const std::string &path, std::uint32_t mode,
                    std::uint64_t size);

/* Whether the "inode" of a region is that of System V shared memory. */
bool is_system_v(std::uint64_t inode);

/* Makes it again under its id, or takes it over. Throws Error naming the id. */
void make_system_v(const std::string &path, std::uint64_t inode,
                   std::uint32_t mode, std::uint64_t size);

} // namespace ckpt::restart
