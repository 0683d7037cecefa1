/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.hpp - the agent's log: kept in memory until its file can be opened.
 */
#pragma once

#include <filesystem>
#include <string>

namespace ckpt
{

/* Keeps the last lines in memory. Call once, first. */
void start_log();

/* DIRECTORY/ckptd-HOST.log: of a job's directory. */
std::filesystem::path log_path(const std::filesystem::path &directory,
                               const std::string &host);

/* Writes them, and all that follow, there; also why the process crashes, if it does. Nothing
 * happens if there is one already. Throws Error if it cannot be written. From any thread: the
 * file system may hang, and nobody who writes to the log waits for that. */
void open_log(const std::filesystem::path &directory, const std::string &host);

} // namespace ckpt
