/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * new_file.hpp - a file that gets its name when it is complete and, if it has to be durable, on
 * disk.
 */
#pragma once

#include "common/fd.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace ckpt
{

class NewFile
{
  public:
    enum class Purpose {
        to_last,  /* survives a power failure; mode 0600 */
        to_inform /* only for readers, and rewritten soon; mode 0644 */
    };

    /* Makes the file under a temporary name, with mode 0600. what: names the thing in an error
     * ("piece"). room: an unneeded file on the same file system, or an empty path. If that file
     * exists, belongs to this user and has no other name, it gets the temporary name and is
     * overwritten. So its memory need not be allocated again. Throws Error, as all functions do. */
    NewFile(const std::filesystem::path &path, std::string_view what,
            const std::filesystem::path &room = {});
    NewFile(const std::filesystem::path &path, std::string_view what, Purpose purpose);
    /* Removes the file if it was not published. */
    ~NewFile();
    NewFile(const NewFile &) = delete;
    NewFile &operator=(const NewFile &) = delete;

    const std::filesystem::path &temporary() const { return temporary_; }

    /* If most parts come in order, the disk starts to write them long before sync(). */
    void write(std::span<const std::byte> part, std::uint64_t offset);
    /* Waits until the file is on disk. The file then ends at the end of its last part. */
    void sync();
    /* Call after sync(): frees the file's memory in the page cache. */
    void leave_cache();
    /* Renames the file. If it has to be durable, calls fsync for the directory. */
    void publish();

  private:
    bool take(const std::filesystem::path &room);
    void check(int error) const;

    const std::filesystem::path path_, temporary_;
    const std::string what_;
    const Purpose purpose_ = Purpose::to_last;
    Fd fd_; /* open as long as there is a temporary file */
    bool is_reused_ = false;
    std::uint64_t length_ = 0, end_ = 0, handed_over_ = 0;
};

} // namespace ckpt
