/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program_file.hpp - the file of a program that is to run without a launcher.
 */
#pragma once

#include <filesystem>
#include <string>

namespace ckpt::cli
{

/* The file that a shell would start; `program` itself if there is none. */
std::filesystem::path found_in_path(const std::string &program);

/* What the kernel runs for it: the program, or the interpreter that the first line
 * of a script names ("#!"). */
std::filesystem::path interpreter_of(const std::filesystem::path &program);

/* Whether it is a shell, which starts other programs. */
bool is_shell(const std::filesystem::path &program);

/*
 * Throws CommandError(exit_refused) if nothing can be preloaded into the program,
 * so that it would run without checkpoints: statically linked, a dynamic linker, with
 * another C library than glibc, of another architecture, or with rights of its own
 * (set-user-ID).
 */
void require_preloadable(const std::filesystem::path &program);

} // namespace ckpt::cli
