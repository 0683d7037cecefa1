/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tune_file.hpp - the parameter file that `mpirun --tune` reads.
 *
 * Only lines "-x NAME=VALUE": the subset that Open MPI 4.1 and 5.0 both take.
 */
#pragma once

#include "cli/settings.hpp"

namespace ckpt::cli
{

/*
 * What a process needs to load the plugin from `libraries`, and `settings`.
 * preload: the user's own LD_PRELOAD, which then follows ours.
 */
Environment plugin_environment(const std::filesystem::path &libraries,
                               const std::string &preload,
                               const Environment &settings);

/* Text of a tune file. Throws CommandError(exit_usage) for a value that such
 * a file cannot carry: with white space, quotes or a comma in it. */
std::string tune_file_text(const Environment &environment);

/*
 * Path of a tune file for these settings, whose text is `text`: the installed
 * one if it says the same, else one in the user's cache directory, or if that cannot
 * be written to in the directory of sockets, that is written now. The name comes from the text, so that it never changes; the file
 * stays, as the user may call it by its name. Throws Error.
 */
std::filesystem::path provide_tune_file(const std::string &text);

/*
 * The same for one launch by this process, which removes it with remove_launch_file() when
 * that has ended. Files of processes that were killed before they could are removed
 * now: a day later, as their launcher may be just starting; those of other hosts, which cannot be
 * asked, after 30 days. Throws Error.
 */
std::filesystem::path provide_launch_file(const std::string &text);

/* Only one of this process: others, and none, are left alone. */
void remove_launch_file(const std::filesystem::path &path);

/* Its name is one that we give, or that of the installed one. */
bool is_own_tune_file(const std::filesystem::path &path);

} // namespace ckpt::cli
