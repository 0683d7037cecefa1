/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * files.cpp - whole files and directories, private to their owner.
 */
#include "config.h"
#include "common/files/files.hpp"

#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/files/new_file.hpp"
#include "common/invariant.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

namespace ckpt
{

namespace fs = std::filesystem;

namespace
{

/* Makes the name of a new directory survive a crash: its parent must be on disk. If the parent
 * may be searched but not read, this syncs the whole file system. */
void sync_name(const fs::path &directory)
{
    try {
        sync_directory(directory_of(directory));
    } catch (const Error &error) {
        if (error.code() != EACCES) {
            throw;
        }
        const Fd fd = open_file(directory, O_RDONLY | O_DIRECTORY, 0, "directory");
        if (::syncfs(fd.get()) < 0) {
            fail_errno(errno, "cannot sync directory {}", directory.string());
        }
    }
}

/* Removes a temporary file, unless keep() says that it is complete. */
class TemporaryFile
{
  public:
    explicit TemporaryFile(fs::path path)
        : path_(std::move(path)) {}
    ~TemporaryFile()
    {
        if (!path_.empty()) {
            ::unlink(path_.c_str());
        }
    }
    void keep() { path_.clear(); }

  private:
    fs::path path_;
};

void require_owner(const struct stat &status, std::string_view what, const fs::path &path)
{
    if (status.st_uid != ::geteuid()) {
        throw Error(fmt::format("{} {} belongs to uid {}, not to you (uid {})", what,
                                path.string(), status.st_uid, ::geteuid()),
                    EPERM);
    }
}

std::string text_of(const Fd &fd, const fs::path &path, std::string_view what, std::size_t limit)
{
    struct stat status;

    if (::fstat(fd.get(), &status) < 0) {
        fail_errno(errno, "cannot read {} {}", what, path.string());
    }
    if (!S_ISREG(status.st_mode)) {
        fail("{} {} is not a regular file", what, path.string());
    }
    if (static_cast<std::uint64_t>(status.st_size) > limit) {
        fail("{} {} is too long: {} bytes, at most {} are expected", what,
             path.string(), status.st_size, limit);
    }
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    const int error = read_exactly(fd.get(), text.data(), text.size(), 0);
    if (error != 0) {
        fail_errno(error, "cannot read {} {}", what, path.string());
    }
    return text;
}

} // namespace

fs::path directory_of(const fs::path &path)
{
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

Fd open_file(const fs::path &path, int flags, mode_t mode,
             std::string_view what)
{
    Fd fd(::open(path.c_str(), flags | O_CLOEXEC, mode));
    if (!fd) {
        fail_errno(errno, "cannot open {} {}", what, path.string());
    }
    return fd;
}

Fd open_own_file(const fs::path &path, std::string_view what)
{
    Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status;

    if (!fd) {
        const int error = errno;
        if (error == EACCES) {
            require_own(path, what); /* another owner may be the reason */
        }
        if (error == ELOOP) { /* the target may have any content */
            throw Error(fmt::format("{} {} is a link", what, path.string()), error);
        }
        fail_errno(error, "cannot open {} {}", what, path.string());
    }
    if (::fstat(fd.get(), &status) < 0) {
        fail_errno(errno, "cannot read {} {}", what, path.string());
    }
    if (!S_ISREG(status.st_mode)) {
        fail("{} {} is not a regular file", what, path.string());
    }
    require_owner(status, what, path);
    return fd;
}

std::string read_own_text_file(const fs::path &path, std::string_view what, std::size_t limit)
{
    return text_of(open_own_file(path, what), path, what, limit);
}

std::string read_secret_text_file(const fs::path &path, std::string_view what, std::size_t limit)
{
    const Fd fd = open_own_file(path, what);
    struct stat status;

    if (::fstat(fd.get(), &status) < 0) {
        fail_errno(errno, "cannot read {} {}", what, path.string());
    }
    if ((status.st_mode & 077) != 0) {
        throw Error(fmt::format("{} {} can be read or written by others (mode {:04o})", what,
                                path.string(), status.st_mode & 07777),
                    EPERM);
    }
    return text_of(fd, path, what, limit);
}

std::string read_text_file(const fs::path &path, std::string_view what,
                           std::size_t limit)
{
    return text_of(open_file(path, O_RDONLY, 0, what), path, what, limit);
}

void write_text_file_atomically(const fs::path &path, std::string_view text,
                                std::string_view what)
{
    NewFile file(path, what);

    file.write(std::as_bytes(std::span(text)), 0);
    file.sync();
    fault_kill("text-file-before-rename");
    file.publish();
}

void write_text_file(const fs::path &path, std::string_view text,
                     std::string_view what)
{
    ::unlink(path.c_str());
    Fd fd = open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0600, what);
    TemporaryFile unfinished(path);
    int error = write_exactly(fd.get(), text.data(), text.size(), 0);

    if (error != 0) {
        fail_errno(error, "cannot write {} {}", what, path.string());
    }
    unfinished.keep();
}

void sync_directory(const fs::path &directory)
{
    Fd fd = open_file(directory, O_RDONLY | O_DIRECTORY, 0, "directory");
    /* Some network file systems cannot do this and return EINVAL. On these,
     * a rename is as durable as the server makes it. */
    if (::fsync(fd.get()) < 0 && errno != EINVAL) {
        fail_errno(errno, "cannot sync directory {}", directory.string());
    }
}

void make_lasting_directory(const fs::path &directory)
{
    if (::mkdir(directory.c_str(), 0700) == 0) {
        sync_name(directory);
    } else if (errno != EEXIST) {
        fail_errno(errno, "cannot make directory {}", directory.string());
    }
}

void make_private_directory(const fs::path &directory)
{
    fs::path parent = directory.parent_path();
    if (!parent.empty() && !directory_exists(parent)) {
        make_private_directory(parent);
    }
    make_lasting_directory(directory);
    if (!directory_exists(directory)) {
        fail("{} is not a directory", directory.string());
    }
    require_own(directory, "directory");
}

/* An entry that cannot be examined may be a directory. */
static bool may_be_directory(const fs::path &path)
{
    try {
        return directory_exists(path);
    } catch (const Error &) {
        return true;
    }
}

std::vector<std::string> list_directories(const fs::path &path)
{
    std::vector<std::string> names;
    try {
        for (const auto &entry : fs::directory_iterator(path)) {
            if (may_be_directory(entry.path())) {
                names.push_back(entry.path().filename());
            }
        }
    } catch (const fs::filesystem_error &error) {
        fail_errno(error.code().value(), "cannot list directory {}",
                   path.string());
    }
    return names;
}

bool path_exists(const fs::path &path)
{
    struct stat status;
    return ::stat(path.c_str(), &status) == 0 ||
           (errno != ENOENT && errno != ENOTDIR);
}

bool directory_exists(const fs::path &path)
{
    constexpr std::array for_sure = {ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG, EACCES};
    struct stat status;

    if (::stat(path.c_str(), &status) == 0) {
        return S_ISDIR(status.st_mode);
    }
    if (std::ranges::find(for_sure, errno) == for_sure.end()) {
        fail_errno(errno, "cannot use directory {}", path.string());
    }
    return false;
}

std::optional<std::string> identity_of(const fs::path &path)
{
    struct stat status;

    return ::stat(path.c_str(), &status) == 0
               ? std::optional(fmt::format("{}:{}", status.st_dev, status.st_ino))
               : std::nullopt;
}

void require_own(const fs::path &path, std::string_view what)
{
    struct stat status;
    if (::stat(path.c_str(), &status) < 0) {
        fail_errno(errno, "cannot use {} {}", what, path.string());
    }
    require_owner(status, what, path);
}

int read_exactly(int fd, void *buffer, std::size_t size, std::uint64_t offset)
{
    CKPT_EXPECT(offset + size >= offset);
    auto *next = static_cast<char *>(buffer);
    while (size > 0) {
        ssize_t got = ::pread(fd, next, size, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got < 0 ? errno : EIO;
        }
        next += got;
        offset += static_cast<std::uint64_t>(got);
        size -= static_cast<std::size_t>(got);
    }
    return 0;
}

int write_exactly(int fd, const void *buffer, std::size_t size,
                  std::uint64_t offset)
{
    CKPT_EXPECT(offset + size >= offset);
    const auto *next = static_cast<const char *>(buffer);
    while (size > 0) {
        ssize_t put = ::pwrite(fd, next, size, static_cast<off_t>(offset));
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return put < 0 ? errno : ENOSPC;
        }
        next += put;
        offset += static_cast<std::uint64_t>(put);
        size -= static_cast<std::size_t>(put);
    }
    return 0;
}

} // namespace ckpt
