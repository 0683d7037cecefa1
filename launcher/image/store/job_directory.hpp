/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_directory.hpp - the mark file that identifies a job's directory as one of ckpt.
 *
 * The job's name may be the name of an existing directory with a user's results. ckpt writes
 * nothing into a directory without the mark, and removes nothing from it.
 */
#pragma once

#include <filesystem>

namespace ckpt
{

inline constexpr const char *job_mark_name = ".ckpt-job";

/* Whether `directory` is a directory of this user, not a symbolic link, and has the mark.
 * Throws Error if that cannot be determined. */
bool is_job_directory(const std::filesystem::path &directory);

/* Creates the directory and its parents with mode 0700, and the mark. An existing directory
 * must have the mark, be empty, or hold a checkpoint of the job, as a copy does. Several
 * processes may call this at once. Throws Error. */
void make_job_directory(const std::filesystem::path &directory);

/* Creates the directory of a checkpoint in a job's directory; it may exist. Throws Error. */
void make_checkpoint_directory(const std::filesystem::path &directory);

/* Removes the job's directory if only the mark is in it. No other process may be creating the
 * directory meanwhile. Throws Error. */
void remove_job_directory_if_empty(const std::filesystem::path &directory);

} // namespace ckpt
