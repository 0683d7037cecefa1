/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_server_file.hpp - the file in which a launcher says where its PMIx server listens.
 */
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include <sys/types.h>

namespace ckpt::cli
{

/* Directories for temporary files of a running process, by its environment: those that a
 * launcher asks in this order. At least one. */
std::vector<std::filesystem::path> temporary_directories_of(pid_t launcher);

/*
 * The file of this user that the server in `launcher` has in its session's directory below one
 * of `directories`. Only names that can be that directory are looked into, not all that lies
 * there. Nothing if there is none.
 */
std::optional<std::filesystem::path>
pmix_server_file(pid_t launcher, const std::vector<std::filesystem::path> &directories);

} // namespace ckpt::cli
