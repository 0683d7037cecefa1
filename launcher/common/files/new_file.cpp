/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * new_file.cpp - a file that gets its name when it is complete and, if it has to be durable, on
 * disk.
 */
#include "config.h"
#include "common/files/new_file.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/files/temporary_name.hpp"
#include "common/invariant.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace ckpt
{

namespace fs = std::filesystem;

namespace
{

/* Data is handed to the disk in parts of this size, so that little is left for sync(). */
constexpr std::uint64_t writeback_part = 8u << 20;

/* Whether the file has no other name, and this user's owner and mode. */
bool is_ours_alone(int fd)
{
    struct stat status;

    return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
           status.st_uid == ::geteuid() && (status.st_mode & 07777) == 0600;
}

} // namespace

NewFile::NewFile(const fs::path &path, std::string_view what, const fs::path &room)
    : path_(path), temporary_(temporary_name(path)), what_(what)
{
    is_reused_ = !room.empty() && take(room);
    if (!is_reused_) {
        fd_ = open_file(temporary_, O_WRONLY | O_CREAT | O_EXCL, 0600, what);
    }
}

/* Sets the mode independently of the umask. */
NewFile::NewFile(const fs::path &path, std::string_view what, Purpose purpose)
    : path_(path), temporary_(temporary_name(path)), what_(what), purpose_(purpose),
      fd_(open_file(temporary_, O_WRONLY | O_CREAT | O_EXCL, 0600, what))
{
    if (purpose_ == Purpose::to_inform && ::fchmod(fd_.get(), 0644) < 0) {
        const int error = errno;
        ::unlink(temporary_.c_str());
        check(error);
    }
}

/* Returns false if `room` does not exist or cannot be used. */
bool NewFile::take(const fs::path &room)
{
    Fd file(::open(room.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));

    if (!file || !is_ours_alone(file.get()) ||
        ::rename(room.c_str(), temporary_.c_str()) < 0) {
        return false;
    }
    fd_ = std::move(file);
    return true;
}

NewFile::~NewFile()
{
    if (fd_) {
        ::unlink(temporary_.c_str());
    }
}

void NewFile::write(std::span<const std::byte> part, std::uint64_t offset)
{
    CKPT_EXPECT(fd_); /* not published */
    CKPT_EXPECT(offset + part.size() >= offset);
    check(write_exactly(fd_.get(), part.data(), part.size(), offset));
    end_ = offset + part.size();
    length_ = std::max(length_, end_);
    CKPT_INVARIANT(end_ <= length_);
    if (end_ >= handed_over_ + writeback_part) {
        ::sync_file_range(fd_.get(), static_cast<off_t>(handed_over_),
                          static_cast<off_t>(end_ - handed_over_),
                          SYNC_FILE_RANGE_WRITE); /* only a hint: fsync reports errors */
        handed_over_ = end_;
    }
}

void NewFile::sync()
{
    CKPT_EXPECT(fd_);
    if (is_reused_) {
        check(::ftruncate(fd_.get(), static_cast<off_t>(length_)) < 0 ? errno : 0);
    }
    check(::fsync(fd_.get()) < 0 ? errno : 0);
}

void NewFile::leave_cache()
{
    (void)::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED);
}

void NewFile::publish()
{
    CKPT_EXPECT(fd_ && temporary_ != path_);
    check(::rename(temporary_.c_str(), path_.c_str()) < 0 ? errno : 0);
    fd_.reset();
    if (purpose_ == Purpose::to_last) {
        sync_directory(directory_of(path_));
    }
}

void NewFile::check(int error) const
{
    if (error != 0) {
        fail_errno(error, "cannot write {} {}", what_, path_.string());
    }
}

} // namespace ckpt
