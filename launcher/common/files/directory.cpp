/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * directory.cpp - an open directory of this user.
 */
#include "config.h"
#include "common/files/directory.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace ckpt
{

namespace
{

struct Close {
    void operator()(DIR *stream) const { ::closedir(stream); }
};

/* Opens the directory `name` in the open directory `above`; path: for messages. */
Fd open_here(int above, const std::filesystem::path &name, const std::filesystem::path &path)
{
    Fd fd(::openat(above, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status;

    if (!fd) {
        const int error = errno == ELOOP ? ENOTDIR : errno;
        fail_errno(error, "cannot open directory {}", path.string());
    }
    if (::fstat(fd.get(), &status) < 0) {
        fail_errno(errno, "cannot use directory {}", path.string());
    }
    if (status.st_uid != ::geteuid()) {
        throw Error(fmt::format("directory {} belongs to uid {}, not to you (uid {})",
                                path.string(), status.st_uid, ::geteuid()),
                    EPERM);
    }
    return fd;
}

} // namespace

Directory::Directory(const std::filesystem::path &path, unsigned levels)
    : path_(path)
{
    CKPT_EXPECT(levels > 0);
    fd_ = levels == 1 ? open_here(AT_FDCWD, path, path)
                      : open_here(Directory(path.parent_path(), levels - 1).fd_.get(),
                                  path.filename(), path);
}

std::vector<std::string> Directory::names() const
{
    Fd again(::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::unique_ptr<DIR, Close> stream(again ? ::fdopendir(again.get()) : nullptr);
    std::vector<std::string> names;

    if (!stream) {
        fail_errno(errno, "cannot list directory {}", path_.string());
    }
    (void)again.release(); /* the stream owns it now */
    errno = 0;
    while (const dirent *entry = ::readdir(stream.get())) {
        const std::string name = entry->d_name;
        if (name != "." && name != "..") {
            names.push_back(name);
        }
        errno = 0;
    }
    if (errno != 0) {
        fail_errno(errno, "cannot list directory {}", path_.string());
    }
    std::ranges::sort(names);
    return names;
}

Directory::Entry Directory::entry(const std::string &name) const
{
    struct stat status;

    if (::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) < 0) {
        if (errno != ENOENT) {
            fail_errno(errno, "cannot use {}", (path_ / name).string());
        }
        return Entry::none;
    }
    return S_ISREG(status.st_mode) && status.st_uid == ::geteuid() ? Entry::own_file
                                                                   : Entry::other;
}

void Directory::remove_file(const std::string &name) const
{
    CKPT_EXPECT(name.find('/') == std::string::npos);
    if (::unlinkat(fd_.get(), name.c_str(), 0) < 0 && errno != ENOENT) {
        fail_errno(errno, "cannot remove {}", (path_ / name).string());
    }
}

void Directory::sync() const
{
    /* some network file systems cannot do this (see sync_directory()) */
    if (::fsync(fd_.get()) < 0 && errno != EINVAL) {
        fail_errno(errno, "cannot sync directory {}", path_.string());
    }
}

} // namespace ckpt
