/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_change.cpp - repeatable changes of single files.
 */
#include "config.h"
#include "journal/file_change.hpp"

#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/files/files.hpp"
#include "journal/tree.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>

namespace ckpt::journal
{

namespace fs = std::filesystem;

namespace
{

constexpr mode_t permissions = 07777;
constexpr mode_t owner_may_change = 0300;
constexpr mode_t owner_may_write = 0200;
constexpr std::size_t buffer_size = 1u << 20;

[[noreturn]] void fail_change(int error, const char *what, const fs::path &path)
{
    fail_errno(error, "cannot {} {}", what, path.string());
}

/* Copies with read and write, where the kernel cannot copy. */
void copy_slowly(const fs::path &from, int source, int to, std::uint64_t begin,
                 std::uint64_t end)
{
    const auto buffer = std::make_unique<char[]>(buffer_size);

    while (begin < end) {
        const std::size_t part = std::min<std::uint64_t>(buffer_size, end - begin);
        int error = read_exactly(source, buffer.get(), part, begin);
        if (error == 0) {
            error = write_exactly(to, buffer.get(), part, begin);
        }
        if (error != 0) {
            fail_change(error, "copy", from);
        }
        begin += part;
    }
}

} // namespace

std::optional<struct stat> status_of(const fs::path &path)
{
    struct stat status;

    if (::lstat(path.c_str(), &status) == 0) {
        return status;
    }
    if (errno != ENOENT && errno != ENOTDIR) {
        fail_change(errno, "look at", path);
    }
    return std::nullopt;
}

void set_modified(const fs::path &path, std::int64_t modified)
{
    timespec times[2] = {};
    times[0].tv_nsec = UTIME_OMIT;
    times[1] = timespec_of(modified);
    /* EPERM: the file belongs to another user, who lets us write to it. */
    if (::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW) < 0 &&
        errno != EPERM) {
        fail_change(errno, "set the time of", path);
    }
}

void set_attributes(const fs::path &path, const Attributes &attributes)
{
    const auto status = status_of(path);

    if (!status) {
        fail_change(ENOENT, "set the mode of", path);
    }
    if ((status->st_uid != attributes.owner || status->st_gid != attributes.group) &&
        ::lchown(path.c_str(), attributes.owner, attributes.group) < 0 &&
        ::geteuid() == 0) {
        fail_change(errno, "set the owner of", path);
    }
    /* chown() may have cleared bits of the mode. */
    if (!S_ISLNK(status->st_mode) && status_of(path)->st_mode != attributes.mode &&
        ::fchmodat(AT_FDCWD, path.c_str(), attributes.mode & permissions, 0) < 0) {
        fail_change(errno, "set the mode of", path);
    }
    set_modified(path, attributes.modified);
}

void change_name(const fs::path &path, const char *what, const std::function<int()> &change)
{
    struct stat status;
    const fs::path directory = path.parent_path();

    if (change() == 0) {
        return;
    }
    int error = errno;
    if ((error == EACCES || error == EPERM) && ::stat(directory.c_str(), &status) == 0 &&
        status.st_uid == ::geteuid() &&
        ::chmod(directory.c_str(), (status.st_mode | owner_may_change) & permissions) == 0) {
        error = change() == 0 ? 0 : errno;
        if (::chmod(directory.c_str(), status.st_mode & permissions) < 0) {
            fail_change(errno, "set the mode of", directory);
        }
    }
    if (error != 0) {
        fail_change(error, what, path);
    }
}

void remove_name(const fs::path &path)
{
    const auto status = status_of(path);

    if (!status) {
        return;
    }
    change_name(path, "remove", [&] {
        return S_ISDIR(status->st_mode) ? ::rmdir(path.c_str()) : ::unlink(path.c_str());
    });
}

void replace_name(const fs::path &path, const fs::path &temporary,
                  const std::function<int(const char *)> &make)
{
    const auto status = status_of(path);

    remove_name(temporary); /* left by a killed process */
    if (status && S_ISDIR(status->st_mode)) {
        remove_name(path);
    }
    change_name(path, "make", [&] { return make(temporary.c_str()); });
    fault_kill("rollback-before-rename");
    change_name(path, "make", [&] { return ::rename(temporary.c_str(), path.c_str()); });
    remove_name(temporary); /* if it was another hard link of the same file */
}

Fd open_writable(const fs::path &path)
{
    constexpr int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    struct stat status;
    Fd fd(::open(path.c_str(), flags));

    if (!fd && errno == EACCES && ::lstat(path.c_str(), &status) == 0 &&
        S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
        ::chmod(path.c_str(), (status.st_mode | owner_may_write) & permissions) == 0) {
        fd = Fd(::open(path.c_str(), flags));
        if (::chmod(path.c_str(), status.st_mode & permissions) < 0) {
            fail_change(errno, "set the mode of", path);
        }
    }
    if (!fd) {
        fail_change(errno, "write", path);
    }
    return fd;
}

void copy_content(const fs::path &from, int to, std::uint64_t size)
{
    const Fd source = open_file(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0, "kept file");
    off_t begin = 0, at = 0;
    const auto end = static_cast<off_t>(size);

    if (::ioctl(to, FICLONE, source.get()) < 0) {
        while (at < end) {
            const ssize_t done = ::copy_file_range(source.get(), &begin, to, &at,
                                                   static_cast<std::size_t>(end - at), 0);
            if (done < 0 && errno == EINTR) {
                continue;
            }
            if (done <= 0) {
                copy_slowly(from, source.get(), to, static_cast<std::uint64_t>(at), size);
                break;
            }
        }
    }
    if (::ftruncate(to, end) < 0) {
        fail_change(errno, "copy", from);
    }
}

bool is_open_nowhere(const fs::path &path)
{
    const Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));

    /* The kernel grants a write lease only if no other descriptor has the file open. If a
     * process opens it meanwhile, this process gets SIGURG, which is ignored by default. */
    return fd && ::fcntl(fd.get(), F_SETSIG, SIGURG) == 0 &&
           ::fcntl(fd.get(), F_SETLEASE, F_WRLCK) == 0;
}

void copy_open_file(int from, int to, const fs::path &path)
{
    const auto buffer = std::make_unique<char[]>(buffer_size);
    off_t begin = 0, at = 0;
    ssize_t done = 0;

    if (::ioctl(to, FICLONE, from) == 0) {
        return;
    }
    do {
        done = ::copy_file_range(from, &begin, to, &at, buffer_size, 0);
    } while (done > 0 || (done < 0 && errno == EINTR));
    while (done < 0) { /* the kernel cannot copy */
        done = ::pread(from, buffer.get(), buffer_size, at);
        if (done == 0) {
            return;
        }
        int error = done < 0 ? errno : 0;
        if (error == 0) {
            error = write_exactly(to, buffer.get(), static_cast<std::size_t>(done),
                                  static_cast<std::uint64_t>(at));
            at += done;
            done = -1;
        }
        if (error != 0 && error != EINTR) {
            fail_change(error, "copy", path);
        }
    }
}

} // namespace ckpt::journal
