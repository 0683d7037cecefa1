/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_directory.hpp - the mark by which ckpt knows a job's directory as its own.
 *
 * The name of a job may be the name of a directory that is there already, with a user's
 * results. Nothing is written into one without the mark, and nothing removed from it.
 */
#pragma once

#include <filesystem>

namespace ckpt
{

inline constexpr const char *job_mark_name = ".ckpt-job";

/* Whether the mark is there, in a directory of ours that is no link. Throws Error if it cannot
 * be told. */
bool is_job_directory(const std::filesystem::path &directory);

/* Makes the directory, and those above it, of mode 0700, with the mark. One that is there must
 * have the mark, or be empty, or hold a checkpoint of that job, as a copy does. Several processes may do so at once. Throws Error. */
void make_job_directory(const std::filesystem::path &directory);

/* The directory of a checkpoint in it, which may be there already. Throws Error. */
void make_checkpoint_directory(const std::filesystem::path &directory);

/* Removes it if there is nothing in it but the mark. Not while somebody else makes it. Throws
 * Error. */
void remove_job_directory_if_empty(const std::filesystem::path &directory);

} // namespace ckpt
