/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock_reach.hpp - whether a file's locks are seen on all hosts that see the file.
 */
#pragma once

namespace ckpt
{

/* True if it is sure: the file system is this host's alone, or carries locks to the others. */
bool locks_reach_other_hosts(int fd);

} // namespace ckpt
