/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote_memory.hpp - reads another process's memory without disturbing it.
 *
 * The page map tells which pages hold data. Other pages are never read, because the kernel
 * would allocate memory for an untouched page.
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

/* The memory is mapped but cannot be read, either by other processes or by any process. */
class UnreadableMemory : public Error
{
  public:
    UnreadableMemory(const std::string &text, int code, std::uint64_t address)
        : Error(text, code), address(address)
    {
    }
    const std::uint64_t address; /* of the first byte that cannot be read */
};

/* Selects pages of a range. */
enum class PageSelection {
    data,    /* private memory: pages that were ever written */
    written, /* private file mapping: pages that no longer are the file's */
};

class RemoteMemory
{
  public:
    enum class ScanMethod {
        best,
        entries
    };

    /* How pages are read that a process shares with the one it was copied from (fork). */
    enum class Reading {
        fast,   /* process_vm_readv: since Linux 5.19 the read process gets pages of its own */
        shared, /* /proc/PID/mem: they stay shared */
    };

    /* Throws Error if the process does not exist or this process may not read it. `method`
     * is for tests: `entries` is what older kernels offer. */
    explicit RemoteMemory(pid_t pid, ScanMethod method = ScanMethod::best,
                          Reading reading = Reading::fast);

    /*
     * Appends the selected pages of [range.start, range.end) to `runs`, by ascending
     * address, with neighbours merged. Both ends are page-aligned. An ended process may
     * look empty; a later read of its memory fails, and so detects that.
     */
    void scan(const ckpt_range &range, PageSelection selection,
              std::vector<ckpt_range> &runs) const;

    /* Copies [address, address + destination.size()). Thread-safe. Throws Error, or
     * UnreadableMemory, naming the process and the first unreadable address. */
    void read(std::uint64_t address, std::span<std::byte> destination) const;

    /*
     * Copies the runs that lie in [base, base + destination.size()) to their places in
     * `destination`, and fills the rest with zeros. The runs are in ascending order. Also
     * reads memory without read permission. Thread-safe.
     */
    void read_runs(std::uint64_t base, std::span<const ckpt_range> runs,
                   std::span<std::byte> destination) const;

    /* Copies the runs in sequence; `destination` has their total length. Otherwise as
     * read_runs(). */
    void read_packed(std::span<const ckpt_range> runs,
                     std::span<std::byte> destination) const;

    /* As read(), but unreadable pages at and above the address `end_of_file` read as zeros.
     * For mappings that extend beyond the end of their file. Thread-safe. */
    void read_file_mapping(std::uint64_t address, std::span<std::byte> destination,
                           std::uint64_t end_of_file) const;

    template <typename T>
    T read_object(std::uint64_t address) const
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
    Reading reading_;
    Fd pagemap_;
    Fd memory_; /* /proc/PID/mem */
    /* Categories that the kernel's PAGEMAP_SCAN supports; 0: the kernel does not have
     * PAGEMAP_SCAN. */
    std::uint64_t scan_categories_ = 0;
};

} // namespace ckpt
