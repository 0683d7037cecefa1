/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_library.hpp - which PMIx library a process uses.
 */
#pragma once

#include <string>

#include <sys/types.h>

namespace ckpt::world
{

/* Returns the path of the PMIx library that the process has loaded; "" if there is none, or if this
 * process may not read the other one's maps. */
std::string pmix_library_of(pid_t process);

} // namespace ckpt::world
