/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * diagnosis.hpp - why a process has no node agent, and so no checkpoint.
 */
#pragma once

#include "cli/command.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace ckpt::cli
{

struct Diagnosis {
    Exit status;
    std::string text;
    bool may_pass = false; /* an agent may be there in a moment */
};

/* Looks at the process and all its descendants. */
Diagnosis why_no_agent(int pid);

/* The dynamic linker that an ELF program names, "" if it names none. Nothing if it is no
 * such program, or cannot be read. */
std::optional<std::string> dynamic_linker_of(const std::filesystem::path &program);

/* True if the file is an ELF program without an interpreter: nothing can be
 * preloaded into it. False if it cannot be read. */
bool is_statically_linked(const std::filesystem::path &program);

} // namespace ckpt::cli
