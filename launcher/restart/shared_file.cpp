/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_file.cpp - recreates files that ranks share through mappings.
 */
#include "config.h"
#include "restart/shared_file.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

extern "C" {
#include "base/text.h"
#include "files/files.h"
#include "restore/restore.h"
}

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace ckpt::restart
{

namespace fs = std::filesystem;

namespace
{

constexpr const char *shared_memory = "/dev/shm/";

bool has_name(const std::string &path)
{
    return !path.starts_with("/memfd:") && !path.ends_with(CKPT_TEXT_DELETED);
}

/* Whether a line of /proc/PID/maps refers to the file. */
bool is_about(const std::string &line, const struct stat &status)
{
    unsigned major = 0;
    unsigned minor = 0;
    unsigned long inode = 0;
    return std::sscanf(line.c_str(), "%*x-%*x %*s %*x %x:%x %lu", &major,
                       &minor, &inode) == 3 &&
           inode == status.st_ino && major == ::major(status.st_dev) &&
           minor == ::minor(status.st_dev);
}

/* Throws if a process uses the object, because the restart would change the
 * memory of an unrelated program. */
void require_unused(const std::string &path, const struct stat &status)
{
    std::error_code ignored;
    for (const auto &entry : fs::directory_iterator("/proc", ignored)) {
        std::string process = entry.path().filename();
        std::ifstream maps(entry.path() / "maps");
        std::string line;
        while (std::getline(maps, line)) {
            if (is_about(line, status)) {
                fail("{} is in the memory of process {}, which is not part of "
                     "this restart",
                     path, process);
            }
        }
    }
}

Fd open_by_name(const std::string &path, std::uint32_t mode)
{
    constexpr int flags = O_RDWR | O_CLOEXEC;
    Fd fd = create_shared_file(path, mode);
    if (fd) {
        return fd;
    }
    struct stat status {
    };
    if (errno == EEXIST) {
        fd.reset(::open(path.c_str(), flags));
    }
    if (!fd || ::fstat(fd.get(), &status) != 0) {
        fail_errno(errno, "the shared memory {} cannot be made again", path);
    }
    if (!S_ISREG(status.st_mode)) {
        refuse(CKPT_REFUSAL_CHANGED_FILE, "{} is no longer a file", path);
    }
    if (path.starts_with(shared_memory)) {
        require_unused(path, status);
    }
    return fd;
}

} // namespace

Fd create_shared_file(const std::string &path, std::uint32_t mode)
{
    Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (fd && ::fchmod(fd.get(), mode) != 0) { /* the umask may have removed bits */
        fail_errno(errno, "{} cannot get its mode", path);
    }
    return fd;
}

Fd open_shared_file(const std::string &path, std::uint32_t mode,
                    std::uint64_t size)
{
    Fd fd;
    if (has_name(path)) {
        fd = open_by_name(path, mode);
    } else {
        int made = ckpt_files_make_unnamed(path.c_str());
        if (made < 0) {
            fail_errno(-made, "the shared memory {} cannot be made again",
                       path);
        }
        fd.reset(made);
    }
    if (::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) {
        fail_errno(errno, "{} cannot be made {} bytes long", path, size);
    }
    return fd;
}

bool is_system_v(std::uint64_t inode)
{
    return (inode & CKPT_REGION_SYSTEM_V) != 0;
}

void make_system_v(const std::string &path, std::uint64_t inode,
                   std::uint32_t mode, std::uint64_t size)
{
    CKPT_EXPECT(is_system_v(inode));
    ckpt_failure failure;
    if (ckpt_restore_make_system_v(path.c_str(), inode, mode, size, &failure) !=
        0) {
        refuse(failure.identity, "{}", failure.text);
    }
}

} // namespace ckpt::restart
