/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mapped_file.hpp - where mappings lie beyond the end of their file: what is there cannot
 * be read, and is zeros in the image.
 *
 * That a page cannot be read tells nothing: it may be a secret, or its file or its memory
 * may be broken. So the end is where the size of the file says.
 */
#pragma once

#include "image/chunk_plan.hpp"
#include "image/rank_image.hpp"

#include <sys/types.h>

namespace ckpt
{

/* Tells the plan's jobs for mappings of files where these files end. Of a file that has
 * neither a name nor a descriptor, and that the kernel does not let us look at, nothing
 * counts as beyond the end. pid: the process; not a copy of it, which has no descriptors. */
void find_ends_of_files(ChunkPlan &plan, const RankImage &image, pid_t pid);

} // namespace ckpt
