/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * diagnosis.cpp - examines the programs and libraries of a process tree.
 */
#include "cli/launchers/diagnosis.hpp"

#include "cli/launchers/launch_line.hpp"
#include "cli/launchers/program_file.hpp"
#include "common/processes.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include <elf.h>
#include <limits.h>

namespace fs = std::filesystem;

namespace ckpt::cli
{

namespace
{

fs::path process_directory(int pid)
{
    return fs::path("/proc") / std::to_string(pid);
}

std::multimap<int, int> children_by_parent()
{
    std::multimap<int, int> children;
    for (const std::int64_t pid : process_ids()) {
        if (int parent = parent_of(pid)) {
            children.emplace(parent, static_cast<int>(pid));
        }
    }
    return children;
}

/* Returns the process and all its descendants. */
std::vector<int> process_tree(int root)
{
    auto children = children_by_parent();
    std::vector<int> tree = {root};
    for (std::size_t next = 0; next < tree.size(); next++) {
        auto [first, last] = children.equal_range(tree[next]);
        for (auto child = first; child != last; ++child) {
            tree.push_back(child->second);
        }
    }
    return tree;
}

std::string mapped_files(int pid)
{
    std::ifstream file(process_directory(pid) / "maps");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/* Returns a diagnosis for one process; nothing if the process explains
 * nothing. */
std::optional<Diagnosis> diagnose(int pid)
{
    std::error_code error;
    fs::path program = fs::read_symlink(process_directory(pid) / "exe", error);
    if (error || launcher_of(program) != Launcher::other) {
        return std::nullopt;
    }
    if (is_statically_linked(process_directory(pid) / "exe")) {
        return Diagnosis{
            exit_refused,
            fmt::format("process {} runs {}, which is statically linked: it "
                        "cannot be checkpointed; link it dynamically",
                        pid, program.string()),
            CKPT_REFUSAL_UNSUITABLE_PROGRAM};
    }
    std::string files = mapped_files(pid);
    if (is_shell(program) && files.find("/libckpt-mpi.so") != files.npos) {
        return std::nullopt; /* a shell: the job is one of its children */
    }
    if (files.find("/libckpt-mpi.so") != files.npos) {
        return Diagnosis{
            exit_refused,
            fmt::format("process {} ({}) has not called MPI_Init yet, or has "
                        "called MPI_Finalize: try again later",
                        pid, program.string()),
            CKPT_REFUSAL_JOB_STARTING, true};
    }
    if (files.find("/libmpi.so.12") != files.npos) {
        return Diagnosis{
            exit_refused,
            fmt::format("process {} runs {}, which uses MPICH or a relative "
                        "(libmpi.so.12): only programs built for Open MPI "
                        "(libmpi.so.40) can be checkpointed",
                        pid, program.string()),
            CKPT_REFUSAL_OTHER_MPI};
    }
    if (files.find("/libmpi.so.40") != files.npos) {
        return Diagnosis{
            exit_refused,
            fmt::format("process {} ({}) was started without checkpointing: "
                        "use mpirun --tune \"$(ckpt tune)\" ...",
                        pid, program.string()),
            CKPT_REFUSAL_NOT_UNDER_CKPT};
    }
    return std::nullopt;
}

} // namespace

std::optional<std::string> dynamic_linker_of(const fs::path &program)
{
    std::ifstream file(program, std::ios::binary);
    Elf64_Ehdr header{};
    file.read(reinterpret_cast<char *>(&header), sizeof(header));
    if (!file || std::string_view(reinterpret_cast<char *>(header.e_ident),
                                  SELFMAG) != ELFMAG) {
        return std::nullopt;
    }
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment{};
        file.seekg(static_cast<std::streamoff>(header.e_phoff +
                                               i * sizeof(segment)));
        file.read(reinterpret_cast<char *>(&segment), sizeof(segment));
        if (!file) {
            return std::nullopt;
        }
        if (segment.p_type == PT_INTERP) {
            std::string name(std::min<std::uint64_t>(segment.p_filesz, PATH_MAX), '\0');
            file.seekg(static_cast<std::streamoff>(segment.p_offset));
            file.read(name.data(), static_cast<std::streamsize>(name.size()));
            return file ? std::optional(std::string(name.c_str())) : std::nullopt;
        }
    }
    return "";
}

bool is_statically_linked(const fs::path &program)
{
    const auto linker = dynamic_linker_of(program);
    return linker && linker->empty();
}

Diagnosis why_no_agent(int pid)
{
    if (!fs::exists(process_directory(pid))) {
        return {exit_not_found, fmt::format("there is no process {}", pid)};
    }
    for (int member : process_tree(pid)) {
        if (auto found = diagnose(member)) {
            return *found;
        }
    }
    return {exit_refused,
            fmt::format("process {} has no checkpointing: its program has not "
                        "called MPI_Init yet, or it was started without "
                        "mpirun --tune \"$(ckpt tune)\"",
                        pid),
            CKPT_REFUSAL_NOT_UNDER_CKPT, true};
}

} // namespace ckpt::cli
