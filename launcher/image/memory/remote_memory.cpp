/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote_memory.cpp - another process's page map and memory.
 *
 * The page map comes from the PAGEMAP_SCAN ioctl (Linux 6.7), else from the
 * entries of /proc/PID/pagemap. Memory is read with process_vm_readv; memory
 * without read permission, for which that call fails, is read from
 * /proc/PID/mem.
 */
#include "config.h"
#include "image/memory/remote_memory.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "image/memory/pagemap_scan.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace ckpt
{

namespace
{

constexpr std::uint64_t page_size = 4096;

/* Bits of a /proc/PID/pagemap entry. */
constexpr std::uint64_t entry_present = 1ull << 63;
constexpr std::uint64_t entry_swapped = 1ull << 62;
constexpr std::uint64_t entry_file = 1ull << 61;
constexpr std::uint64_t entry_guard = 1ull << 58;

bool entry_is_wanted(std::uint64_t entry, PageSelection selection)
{
    if ((entry & (entry_present | entry_swapped)) == 0 ||
        (entry & entry_guard) != 0) {
        return false;
    }
    return selection == PageSelection::data || (entry & entry_file) == 0;
}

} // namespace

RemoteMemory::RemoteMemory(pid_t pid, ScanMethod method, Reading reading)
    : pid_(pid), reading_(reading)
{
    struct {
        const char *name;
        Fd &fd;
    } const files[] = {{"pagemap", pagemap_}, {"mem", memory_}};
    for (const auto &file : files) {
        std::string path = fmt::format("/proc/{}/{}", pid, file.name);
        file.fd = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        if (!file.fd) {
            fail_to_read(0, errno);
        }
    }
    if (method == ScanMethod::best) {
        scan_categories_ = pagemap::known_categories(pagemap_.get());
    }
}

void RemoteMemory::fail_to_read(std::uint64_t address, int code) const
{
    if (code == ESRCH || code == ENOENT) {
        throw Error(fmt::format("process {} is gone", pid_), ESRCH, CKPT_REFUSAL_UNREADABLE_RANK);
    }
    if (code == EPERM || code == EACCES) {
        throw Error(
            fmt::format("may not read the memory of process {}: no ptrace "
                        "permission (another user's process, or restricted by "
                        "/proc/sys/kernel/yama/ptrace_scope)",
                        pid_),
            code, CKPT_REFUSAL_UNREADABLE_RANK);
    }
    const std::string text =
        fmt::format("cannot read memory of process {} at {:#x}: {}", pid_, address,
                    std::strerror(code));
    if (code == EFAULT || code == EIO || code == EHWPOISON) {
        throw UnreadableMemory(text, code, address);
    }
    throw Error(text, code, CKPT_REFUSAL_UNREADABLE_RANK);
}

void RemoteMemory::scan(const ckpt_range &range, PageSelection selection,
                        std::vector<ckpt_range> &runs) const
{
    CKPT_EXPECT(range.start % page_size == 0 && range.end % page_size == 0);
    if (scan_categories_ != 0) {
        scan_with_ioctl(range, selection, runs);
    } else {
        scan_entries(range, selection, runs);
    }
}

void RemoteMemory::scan_with_ioctl(const ckpt_range &range,
                                   PageSelection selection,
                                   std::vector<ckpt_range> &runs) const
{
    std::uint64_t unwanted = pagemap::zero_page | (scan_categories_ & pagemap::guard);
    if (selection == PageSelection::written) {
        unwanted |= pagemap::file;
    }
    pagemap::ScanArgument argument;
    argument.start = range.start;
    argument.end = range.end;
    argument.category_inverted = unwanted;
    argument.category_mask = unwanted;
    argument.category_anyof_mask = pagemap::present | pagemap::swapped;
    argument.return_mask = pagemap::present | pagemap::swapped;
    if (int error = pagemap::scan(pagemap_.get(), argument, runs)) {
        fail_to_read(argument.start, error);
    }
}

void RemoteMemory::scan_entries(const ckpt_range &range,
                                PageSelection selection,
                                std::vector<ckpt_range> &runs) const
{
    std::vector<std::uint64_t> entries(1u << 15);
    std::uint64_t address = range.start;
    while (address < range.end) {
        std::size_t count = std::min<std::uint64_t>(
            entries.size(), (range.end - address) / page_size);
        int error = read_exactly(pagemap_.get(), entries.data(), 8 * count,
                                 address / page_size * 8);
        if (error != 0) {
            /* the page map of an ended process reads as empty */
            fail_to_read(address, error == EIO ? ESRCH : error);
        }
        for (std::size_t i = 0; i < count; i++, address += page_size) {
            if (entry_is_wanted(entries[i], selection)) {
                append_range(runs, {address, address + page_size});
            }
        }
    }
}

/* Reads all of `destination` from `address`, which advances with the bytes
 * read. Returns 0 or an errno; after an error `address` is the first unreadable
 * byte. */
int RemoteMemory::try_read(std::uint64_t &address,
                           std::span<std::byte> destination) const
{
    while (!destination.empty()) {
        struct iovec local = {destination.data(), destination.size()};
        struct iovec remote = {reinterpret_cast<void *>(address),
                               destination.size()};
        ssize_t got = reading_ == Reading::shared
                          ? ::pread(memory_.get(), destination.data(), destination.size(),
                                    static_cast<off_t>(address))
                          : ::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
        if (got < 0 && errno == EFAULT && reading_ == Reading::fast) {
            /* Only up to the end of the page; process_vm_readv may work again
             * on the next. */
            std::size_t part = std::min<std::uint64_t>(
                destination.size(), page_size - address % page_size);
            got = ::pread(memory_.get(), destination.data(), part,
                          static_cast<off_t>(address));
        }
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got < 0 ? errno : ESRCH;
        }
        address += static_cast<std::uint64_t>(got);
        destination = destination.subspan(static_cast<std::size_t>(got));
    }
    return 0;
}

void RemoteMemory::read(std::uint64_t address,
                        std::span<std::byte> destination) const
{
    int error = try_read(address, destination);
    if (error != 0) {
        fail_to_read(address, error);
    }
}

/* Reads the places with as few system calls as possible. */
void RemoteMemory::read_places(std::span<const Place> places) const
{
    std::array<struct iovec, IOV_MAX> local;
    std::array<struct iovec, IOV_MAX> remote;
    if (reading_ == Reading::shared) {
        for (const auto &[address, destination] : places) {
            read(address, destination);
        }
        return;
    }
    while (!places.empty()) {
        std::span batch = places.first(std::min(places.size(), local.size()));
        std::size_t total = 0;
        for (std::size_t i = 0; i < batch.size(); i++) {
            const auto &[address, destination] = batch[i];
            local[i] = {destination.data(), destination.size()};
            remote[i] = {reinterpret_cast<void *>(address), destination.size()};
            total += destination.size();
        }
        ssize_t got = ::process_vm_readv(pid_, local.data(), batch.size(),
                                         remote.data(), batch.size(), 0);
        if (got != static_cast<ssize_t>(total)) {
            /* process_vm_readv failed on some page: read the places one by
             * one. */
            for (const auto &[address, destination] : batch) {
                read(address, destination);
            }
        }
        places = places.subspan(batch.size());
    }
}

void RemoteMemory::read_runs(std::uint64_t base,
                             std::span<const ckpt_range> runs,
                             std::span<std::byte> destination) const
{
    std::vector<Place> places;
    const std::uint64_t end = base + destination.size();
    std::uint64_t position = base;
    const auto fill_up_to = [&](std::uint64_t next) {
        CKPT_INVARIANT(position <= next && next <= end); /* the runs are ascending */
        std::ranges::fill(destination.subspan(position - base, next - position),
                          std::byte{0});
    };
    for (const ckpt_range &run : runs) {
        std::uint64_t from = std::max(run.start, base);
        std::uint64_t to = std::min(run.end, end);
        if (from < to) {
            fill_up_to(from);
            places.push_back({from, destination.subspan(from - base, to - from)});
            position = to;
        }
    }
    fill_up_to(end);
    read_places(places);
}

void RemoteMemory::read_packed(std::span<const ckpt_range> runs,
                               std::span<std::byte> destination) const
{
    std::vector<Place> places;
    std::size_t position = 0;
    for (const ckpt_range &run : runs) {
        places.push_back({run.start, destination.subspan(position, run.end - run.start)});
        position += run.end - run.start;
    }
    CKPT_EXPECT(position == destination.size());
    read_places(places);
}

void RemoteMemory::read_file_mapping(std::uint64_t address,
                                     std::span<std::byte> destination,
                                     std::uint64_t end_of_file) const
{
    std::uint64_t position = address;
    while (!destination.empty()) {
        std::uint64_t before = position;
        int error = try_read(position, destination);
        if (error == 0) {
            return;
        }
        if ((error != EFAULT && error != EIO) || position < end_of_file) {
            fail_to_read(position, error);
        }
        CKPT_INVARIANT(position >= before && position - before <= destination.size());
        /* Beyond the end of the file: fill one page with zeros, then go on. */
        destination = destination.subspan(position - before);
        std::size_t hole = std::min<std::uint64_t>(
            destination.size(), page_size - position % page_size);
        std::fill_n(destination.begin(), hole, std::byte{0});
        destination = destination.subspan(hole);
        position += hole;
    }
}

} // namespace ckpt
