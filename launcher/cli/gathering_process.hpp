/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gathering_process.hpp - gathers a checkpoint that lies on nodes for a command that becomes
 * the launcher.
 */
#pragma once

#include "image/node_record.hpp"

#include <cstddef>
#include <filesystem>

namespace ckpt::cli
{

/* On stderr: so many pieces have come to where they are needed. */
void say_gathered(std::size_t pieces, double seconds);

/*
 * A child of this process serves the nodes (gather/gathering.hpp) until all is where it is
 * needed, or cannot be, which it tells on stderr, or until this process has ended. Returns
 * when it can be found by way of `file`. Not for programs with several threads. Throws
 * Error.
 */
void start_gathering(const std::filesystem::path &file, const NodeRecord &record);

} // namespace ckpt::cli
