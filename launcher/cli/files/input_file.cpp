/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * input_file.cpp - keeps the received data of a stream, in a file or in memory.
 */
#include "config.h"
#include "cli/files/input_file.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace ckpt::cli
{

namespace
{

constexpr const char *what = "the kept standard input";
constexpr std::size_t part_size = 1 << 20;

} // namespace

void InputFile::open(const std::filesystem::path &path)
{
    path_ = path;
    file_ = open_file(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600, what);
}

/* Appends to the file. */
bool InputFile::write(std::span<const char> bytes)
{
    if (const int error = write_exactly(file_.get(), bytes.data(), bytes.size(), written_)) {
        why_ = std::strerror(error);
        return false;
    }
    written_ += bytes.size();
    return true;
}

void InputFile::append(std::span<const char> bytes)
{
    CKPT_INVARIANT(written_ <= size_ && (in_memory() == 0 || memory_)); /* each byte is kept */
    if (in_memory() == 0 && write(bytes)) {
        size_ = written_;
        return;
    }
    if (!memory_) {
        memory_.reset(::memfd_create("ckpt-input", MFD_CLOEXEC));
    }
    memory_start_ = in_memory() == 0 ? size_ : memory_start_;
    const int error = !memory_ ? errno
                               : write_exactly(memory_.get(), bytes.data(), bytes.size(),
                                               size_ - memory_start_);
    if (error != 0) {
        fail_errno(error, "cannot keep the standard input, which {} has no room for",
                   path_.string());
    }
    size_ += bytes.size();
}

void InputFile::read(std::span<char> bytes, std::uint64_t offset) const
{
    CKPT_EXPECT(offset <= size_ && bytes.size() <= size_ - offset);
    const std::size_t from_file = std::min<std::uint64_t>(
        bytes.size(), offset < written_ ? written_ - offset : 0);
    const std::span rest = bytes.subspan(from_file);
    int error = read_exactly(file_.get(), bytes.data(), from_file, offset);

    if (error == 0 && !rest.empty()) {
        error = read_exactly(memory_.get(), rest.data(), rest.size(),
                             offset + from_file - memory_start_);
    }
    if (error != 0) {
        fail_errno(error, "cannot read {} {}", what, path_.string());
    }
}

void InputFile::settle()
{
    std::vector<char> part;

    while (in_memory() > 0) {
        part.resize(std::min<std::uint64_t>(part_size, in_memory()));
        read(part, written_);
        if (!write(part)) {
            return;
        }
    }
    memory_.reset();
}

} // namespace ckpt::cli
