/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scratch.cpp - files in memory, and a directory that is removed at exit.
 */
#include "config.h"
#include "fuzz/scratch.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace ckpt::fuzz
{

namespace
{

struct Directory {
    Directory()
    {
        std::string name = std::filesystem::temp_directory_path() / "ckpt-fuzz-XXXXXX";
        if (::mkdtemp(name.data()) == nullptr) {
            fail_errno(errno, "cannot make a directory like {}", name);
        }
        path = name;
    }
    ~Directory()
    {
        std::error_code ignored; /* an error cannot be reported at exit */
        std::filesystem::remove_all(path, ignored);
    }

    std::filesystem::path path;
};

} // namespace

MemoryFile::MemoryFile(const std::string &bytes)
    : fd_(::memfd_create("fuzz", MFD_CLOEXEC))
{
    if (!fd_) {
        fail_errno(errno, "cannot make a file in memory");
    }
    const int error = write_exactly(fd_.get(), bytes.data(), bytes.size(), 0);
    if (error != 0) {
        fail_errno(error, "cannot write to a file in memory");
    }
}

const std::filesystem::path &scratch_directory()
{
    static const Directory directory;
    return directory.path;
}

} // namespace ckpt::fuzz
