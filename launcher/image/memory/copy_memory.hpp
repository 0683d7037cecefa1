/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_memory.hpp - the memory that frozen copies of processes can take.
 *
 * A copy shares all pages with its process at first. Each page that the process writes again takes
 * memory of its own.
 */
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace ckpt
{

/* Returns the memory that copies of these processes take at most, in bytes: the anonymous memory
 * that the processes have now. A process that has ended counts as none. Reads counters of the
 * kernel, so it takes no time in proportion to the memory. Thread-safe. */
std::uint64_t memory_of_copies(const std::vector<pid_t> &processes);

/* Returns whether so much memory is left that copies can be kept.
 * bytes: of one set of copies. are_others_kept: copies of the checkpoint before, which end when
 * the new ones are committed, are part of what is used already; otherwise there have to be room for
 * two sets. A quarter of `available` bytes is left to the program in any case. */
bool has_room_for_copies(std::uint64_t bytes, bool are_others_kept, std::uint64_t available);

} // namespace ckpt
