/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program_file.hpp - examines the file of a program that is to run without a
 * launcher.
 */
#pragma once

#include <filesystem>
#include <string>

namespace ckpt::cli
{

/* Returns the file that a shell would execute; `program` itself if there is none. */
std::filesystem::path found_in_path(const std::string &program);

/* Returns the file that the kernel executes for `program`: the program, or the
 * interpreter in the first line of a script ("#!"). */
std::filesystem::path interpreter_of(const std::filesystem::path &program);

/* Whether the program is a shell, which starts other programs. */
bool is_shell(const std::filesystem::path &program);

/*
 * Throws CommandError(exit_refused) if nothing can be preloaded into the program, so
 * that it would run without checkpoints: statically linked, a dynamic linker, not
 * linked with glibc, of another architecture, or set-user-ID or set-group-ID.
 */
void require_preloadable(const std::filesystem::path &program);

} // namespace ckpt::cli
