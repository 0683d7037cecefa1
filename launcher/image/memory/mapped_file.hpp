/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mapped_file.hpp - finds the parts of mappings that lie beyond the end of the file. They
 * cannot be read, and are zeros in the image.
 *
 * A failed read does not show where the end is: the page may be secret memory, or the file
 * or the memory may have errors. So the end is computed from the size of the file.
 */
#pragma once

#include "image/memory/chunk_plan.hpp"
#include "image/model/rank_image.hpp"

#include <sys/types.h>

namespace ckpt
{

/* Sets the end of the file in the plan's jobs for file mappings. If a file has neither a
 * name nor a descriptor, and the kernel does not let the agent inspect it, no page counts as
 * beyond its end. pid: the process itself, not a copy of it, because a copy has no
 * descriptors. */
void find_ends_of_files(ChunkPlan &plan, const RankImage &image, pid_t pid);

} // namespace ckpt
