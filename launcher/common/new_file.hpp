/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * new_file.hpp - a file that has its name when it is whole and, if it is to last, on the disk.
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
        to_last,  /* over a power failure; of mode 0600 */
        to_inform /* whoever reads it, until it is written again soon; of mode 0644 */
    };

    /* Under a temporary name, of mode 0600. what: names the thing in an
     * error ("piece"). room: a file on the same file system that nobody needs, or no
     * path. If it is there, and ours, and has no other name, it gets the
     * temporary name and is overwritten: the memory that it has need not be found again.
     * Throws Error, as all functions do. */
    NewFile(const std::filesystem::path &path, std::string_view what,
            const std::filesystem::path &room = {});
    NewFile(const std::filesystem::path &path, std::string_view what, Purpose purpose);
    /* Nothing stays of it if it was not published. */
    ~NewFile();
    NewFile(const NewFile &) = delete;
    NewFile &operator=(const NewFile &) = delete;

    const std::filesystem::path &temporary() const { return temporary_; }

    /* The disk begins to write long before sync(), if most parts come in order. */
    void write(std::span<const std::byte> part, std::uint64_t offset);
    /* Until it is on the disk, and it ends where the last of its parts ends. */
    void sync();
    /* After sync(): the memory that it takes in the page cache can go to others. */
    void leave_cache();
    /* rename; if it is to last, fsync of the directory. */
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
