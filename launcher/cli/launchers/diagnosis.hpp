/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * diagnosis.hpp - explains why a process has no node agent, and so cannot be saved.
 */
#pragma once

#include "cli/base/command.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace ckpt::cli
{

struct Diagnosis {
    Exit status;
    std::string text;
    ckpt_refusal identity = CKPT_REFUSAL_NONE; /* if exit_refused */
    bool may_pass = false;                     /* an agent may appear in a moment */
};

/* Examines the process and all its descendants. */
Diagnosis why_no_agent(int pid);

/* Returns the dynamic linker that an ELF program names, "" if it names none. Returns
 * nothing if the file is not an ELF program or cannot be read. */
std::optional<std::string> dynamic_linker_of(const std::filesystem::path &program);

/* Returns true if the file is an ELF program without an interpreter, into which nothing
 * can be preloaded. Returns false if the file cannot be read. */
bool is_statically_linked(const std::filesystem::path &program);

} // namespace ckpt::cli
