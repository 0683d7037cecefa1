/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gathering_process.hpp - gathers a checkpoint from the nodes for a command that becomes the
 * launcher.
 */
#pragma once

#include "image/store/node_record.hpp"

#include <cstddef>
#include <filesystem>

namespace ckpt::cli
{

/* Prints to stderr how many pieces were moved to the nodes that need them, and how long that
 * took. */
void say_gathered(std::size_t pieces, double seconds);

/*
 * Starts a child process that serves the nodes (gather/gathering.hpp). The child ends when
 * all pieces are where they are needed, or when that fails, which it prints on stderr, or
 * when this process has ended. Returns when the nodes can find the child through `file`.
 * Must not be called by programs with several threads. Throws Error.
 */
void start_gathering(const std::filesystem::path &file, const NodeRecord &record);

} // namespace ckpt::cli
