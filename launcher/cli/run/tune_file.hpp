/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tune_file.hpp - the parameter file that `mpirun --tune` reads.
 *
 * It has only lines "-x NAME=VALUE", the subset that both Open MPI 4.1 and 5.0 accept.
 */
#pragma once

#include "cli/jobs/settings.hpp"

namespace ckpt::cli
{

/*
 * Returns the variables with which a process loads the plugin from `libraries`, and `settings`.
 * preload: the user's own LD_PRELOAD, which follows the plugin's.
 */
Environment plugin_environment(const std::filesystem::path &libraries,
                               const std::string &preload,
                               const Environment &settings);

/* Returns the text of a tune file. Throws CommandError(exit_usage) for a value that such a file
 * cannot carry: with white space, quotes or a comma. */
std::string tune_file_text(const Environment &environment);

/*
 * Returns the path of a tune file with this text. It is the installed file if that has the same
 * text. Otherwise writes a file to the user's cache directory, or to the directory of sockets
 * if the former is not writable. The name is derived from the text, so it never changes; the
 * file stays, because the user may refer to it by name. Throws Error.
 */
std::filesystem::path provide_tune_file(const std::string &text);

/*
 * The same for one launch by this process, which removes the file with remove_launch_file()
 * when the launch has ended. Also removes old files of killed processes: after a day, because
 * their launcher may just be starting; those of other hosts, whose processes cannot be checked,
 * after 30 days. Throws Error.
 */
std::filesystem::path provide_launch_file(const std::string &text);

/* Removes the file if it belongs to this process; ignores other files and an empty path. */
void remove_launch_file(const std::filesystem::path &path);

/* Whether ckpt gives such names to tune files, or the path is that of the installed file. */
bool is_own_tune_file(const std::filesystem::path &path);

} // namespace ckpt::cli
