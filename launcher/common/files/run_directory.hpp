/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_directory.hpp - the directory with the sockets of this user's agents and
 * commands.
 */
#pragma once

#include <filesystem>

namespace ckpt
{

/* Returns $CKPT_RUN_DIR, or $XDG_RUNTIME_DIR/ckpt-UID, or /tmp/ckpt-UID. It need not exist. */
std::filesystem::path run_directory();

} // namespace ckpt
