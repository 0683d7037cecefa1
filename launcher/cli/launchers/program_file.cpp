/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program_file.cpp - examines the file of a program that is to run without a
 * launcher.
 */
#include "cli/launchers/program_file.hpp"

#include "cli/base/command.hpp"
#include "cli/launchers/diagnosis.hpp"

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace ckpt::cli
{

namespace
{

constexpr int most_interpreters = 4; /* nesting, as in the kernel */

/* Keep in sync with the list in mpi-plugin/non_mpi/shell.c. */
const std::set<std::string> shells = {
    "sh", "bash", "dash", "zsh", "zsh5", "ksh93",
    "mksh", "csh", "tcsh", "bsd-csh", "fish", "busybox"};

/* Returns the second word of a line like "#! /bin/sh -e". */
fs::path named_interpreter(const fs::path &program)
{
    std::ifstream file(program, std::ios::binary);
    std::string line;
    std::string interpreter;
    if (file.get() == '#' && file.get() == '!' && std::getline(file, line)) {
        std::istringstream(line) >> interpreter;
    }
    return interpreter;
}

bool is_of_another_architecture(const fs::path &program)
{
    std::ifstream file(program, std::ios::binary);
    Elf64_Ehdr header{};
    file.read(reinterpret_cast<char *>(&header), sizeof(header));
    return file.gcount() > EI_CLASS &&
           std::string_view(reinterpret_cast<char *>(header.e_ident),
                            SELFMAG) == ELFMAG &&
           (header.e_ident[EI_CLASS] != ELFCLASS64 ||
            header.e_machine != EM_X86_64);
}

/* Detects programs run as, for example, /lib64/ld-linux-x86-64.so.2 PROGRAM. */
bool is_dynamic_linker(const fs::path &program)
{
    std::error_code error;
    const fs::path file = fs::canonical(program, error);
    const std::string name = (error ? program : file).filename();
    return is_statically_linked(program) && name.starts_with("ld") &&
           name.find(".so") != name.npos;
}

bool is_linked_with_musl(const fs::path &program)
{
    const auto linker = dynamic_linker_of(program);
    return linker && fs::path(*linker).filename().string().starts_with("ld-musl");
}

/* The dynamic linker does not preload our library into such programs (ld.so(8),
 * secure-execution mode). */
bool has_rights_of_its_own(const fs::path &program)
{
    struct stat status {
    };
    return stat(program.c_str(), &status) == 0 &&
           (((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
            ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid()));
}

} // namespace

fs::path found_in_path(const std::string &program)
{
    const char *value = std::getenv("PATH");
    if (program.find('/') != program.npos || value == nullptr) {
        return program;
    }
    std::istringstream path(value);
    std::string directory;
    while (std::getline(path, directory, ':')) {
        std::error_code error;
        fs::path candidate = fs::path(directory) / program;
        if (fs::is_regular_file(candidate, error)) {
            return candidate;
        }
    }
    return program;
}

fs::path interpreter_of(const fs::path &program)
{
    fs::path file = program;
    for (int i = 0; i < most_interpreters; i++) {
        fs::path next = named_interpreter(file);
        if (next.empty()) {
            break;
        }
        file = next;
    }
    return file;
}

bool is_shell(const fs::path &program)
{
    std::error_code error;
    fs::path file = fs::canonical(program, error);
    return shells.contains((error ? program : file).filename());
}

void require_preloadable(const fs::path &program)
{
    const char *why = is_dynamic_linker(program)
                          ? "is a dynamic linker, into which nothing can be preloaded (start "
                            "the program itself)"
                      : is_statically_linked(program) ? "is statically linked"
                      : is_linked_with_musl(program)
                          ? "is linked with musl, and ckpt needs glibc"
                      : is_of_another_architecture(program)
                          ? "is not a program for x86-64"
                      : has_rights_of_its_own(program)
                          ? "runs with the rights of another user or group"
                          : nullptr;
    if (why != nullptr) {
        stop_refused(CKPT_REFUSAL_UNSUITABLE_PROGRAM, "{} {}: it cannot be checkpointed",
                     program.string(), why);
    }
}

} // namespace ckpt::cli
