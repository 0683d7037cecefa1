/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * new_file.cpp - a file that has its name when it is whole and on the disk.
 */
#include "config.h"
#include "common/new_file.hpp"

#include "common/error.hpp"
#include "common/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace ckpt
{

namespace fs = std::filesystem;

namespace
{

/* The disk gets its work in parts of this size, so that never much waits for it. */
constexpr std::uint64_t writeback_part = 8u << 20;

} // namespace

/* The name has the process in it: another one may be busy with the same file. */
NewFile::NewFile(const fs::path &path, std::string_view what)
    : path_(path), temporary_(fmt::format("{}.{}.tmp", path.string(), ::getpid()))
{
    ::unlink(temporary_.c_str());
    fd_ = open_file(temporary_, O_WRONLY | O_CREAT | O_EXCL, 0600, what);
}

NewFile::~NewFile()
{
    if (fd_) {
        ::unlink(temporary_.c_str());
    }
}

void NewFile::write(std::span<const std::byte> part, std::uint64_t offset)
{
    check(write_exactly(fd_.get(), part.data(), part.size(), offset));
    end_ = offset + part.size();
    if (end_ - handed_over_ >= writeback_part) {
        ::sync_file_range(fd_.get(), static_cast<off_t>(handed_over_),
                          static_cast<off_t>(end_ - handed_over_),
                          SYNC_FILE_RANGE_WRITE); /* a hint: fsync has the errors */
        handed_over_ = end_;
    }
}

void NewFile::sync()
{
    check(::fsync(fd_.get()) < 0 ? errno : 0);
}

void NewFile::leave_cache()
{
    (void)::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED);
}

void NewFile::publish()
{
    check(::rename(temporary_.c_str(), path_.c_str()) < 0 ? errno : 0);
    fd_.reset();
    sync_directory(path_.parent_path());
}

void NewFile::check(int error) const
{
    if (error != 0) {
        fail_errno(error, "cannot write {}", temporary_.string());
    }
}

} // namespace ckpt
