/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock_reach.hpp - whether a file's locks are visible on all hosts that see the file.
 */
#pragma once

namespace ckpt
{

/* Returns true only if it is certain: the file system is private to this host, or carries
 * locks to other hosts. */
bool locks_reach_other_hosts(int fd);

} // namespace ckpt
