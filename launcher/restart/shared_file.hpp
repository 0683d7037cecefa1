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

} // namespace ckpt::restart
