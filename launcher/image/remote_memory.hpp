/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote_memory.hpp - reads another process's memory without disturbing it.
 *
 * The page map says which pages hold data; the others are never read, because
 * reading an untouched page would make the kernel give it memory.
 */
#pragma once

#include "common/error.hpp"
#include "common/fd.hpp"

#include "ckpt/snapshot.h"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ckpt
{

/* Memory is mapped but cannot be read: by no other process, or by none at all. */
class UnreadableMemory : public Error
{
  public:
    UnreadableMemory(const std::string &text, int code, std::uint64_t address)
        : Error(text, code), address(address)
    {
    }
    const std::uint64_t address; /* of the first byte that cannot be read */
};

/* Which pages of a range are wanted. */
enum class PageSelection {
    data,    /* private memory: pages that were ever written */
    written, /* private file mapping: pages that no longer are the file's */
};

class RemoteMemory
{
  public:
    enum class ScanMethod { best, entries };

    /* Throws Error if there is no such process or we may not read it. The
     * method is for tests: `entries` is what older kernels have. */
    explicit RemoteMemory(pid_t pid, ScanMethod method = ScanMethod::best);

    /*
     * Appends to `runs` the wanted pages of [range.start, range.end), by
     * rising address, neighbours merged. Both ends page-aligned. A process
     * that has ended may look empty: read from it afterwards to be sure.
     */
    void scan(const ckpt_range &range, PageSelection selection,
              std::vector<ckpt_range> &runs) const;

    /* Copies [address, address + destination.size()). Thread-safe. Throws Error, or
     * UnreadableMemory, naming the process and the first address that could not be read. */
    void read(std::uint64_t address, std::span<std::byte> destination) const;

    /*
     * Copies the runs that lie in [base, base + destination.size()) to their
     * places in `destination`, and fills the rest of it with zeros. The runs are in
     * ascending order. Memory without read permission is read as well. Thread-safe.
     */
    void read_runs(std::uint64_t base, std::span<const ckpt_range> runs,
                   std::span<std::byte> destination) const;

    /* Copies the runs one behind the other; `destination` has their length. As
     * read_runs() otherwise. */
    void read_packed(std::span<const ckpt_range> runs,
                     std::span<std::byte> destination) const;

    /* As read(), but pages from `end_of_file` on, an address, give zeros if they cannot be
     * read: for mappings that reach beyond the end of their file. Thread-safe. */
    void read_file_mapping(std::uint64_t address, std::span<std::byte> destination,
                           std::uint64_t end_of_file) const;

    template <typename T> T read_object(std::uint64_t address) const
    {
        T object;
        read(address, std::as_writable_bytes(std::span(&object, 1)));
        return object;
    }

    template <typename T>
    std::vector<T> read_array(std::uint64_t address, std::size_t count) const
    {
        std::vector<T> array(count);
        read(address, std::as_writable_bytes(std::span(array)));
        return array;
    }

  private:
    void scan_with_ioctl(const ckpt_range &range, PageSelection selection,
                         std::vector<ckpt_range> &runs) const;
    void scan_entries(const ckpt_range &range, PageSelection selection,
                      std::vector<ckpt_range> &runs) const;
    int try_read(std::uint64_t &address, std::span<std::byte> destination) const;
    struct Place {
        std::uint64_t address;
        std::span<std::byte> destination;
    };
    void read_places(std::span<const Place> places) const;
    [[noreturn]] void fail_to_read(std::uint64_t address, int code) const;

    pid_t pid_;
    Fd pagemap_;
    Fd memory_; /* /proc/PID/mem */
    /* Categories the kernel's PAGEMAP_SCAN knows; 0: it has none. */
    std::uint64_t scan_categories_ = 0;
};

} // namespace ckpt
