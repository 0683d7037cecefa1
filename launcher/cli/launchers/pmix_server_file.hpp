/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_server_file.hpp - finds the file with the address of a launcher's PMIx server.
 */
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include <sys/types.h>

namespace ckpt::cli
{

/* Returns the directories for temporary files that a running launcher's environment names, in
 * the launcher's order of preference. At least one. */
std::vector<std::filesystem::path> temporary_directories_of(pid_t launcher);

/*
 * Returns the file of this user that the server in `launcher` has in its session directory
 * below one of `directories`. Only looks into directories whose name fits, not into all.
 * Returns nothing if there is no such file.
 */
std::optional<std::filesystem::path>
pmix_server_file(pid_t launcher, const std::vector<std::filesystem::path> &directories);

} // namespace ckpt::cli
