/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.hpp - the agent's log, kept in memory until its file can be opened.
 */
#pragma once

#include <filesystem>
#include <string>

namespace ckpt
{

/* Keeps the latest lines in memory. Call once, before anything is logged. */
void start_log();

/* Returns DIRECTORY/ckptd-HOST.log; directory: of a job. */
std::filesystem::path log_path(const std::filesystem::path &directory,
                               const std::string &host);

/* Writes the lines in memory and all that follow to the file; also the reason if the process
 * crashes. Does nothing if the log is open. Throws Error if the file cannot be written. May be
 * called from any thread: the file system may hang, and threads that log do not wait for it. */
void open_log(const std::filesystem::path &directory, const std::string &host);

} // namespace ckpt
