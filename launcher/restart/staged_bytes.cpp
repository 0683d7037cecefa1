/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * staged_bytes.cpp - content of files that a restart has read from the image.
 */
#include "config.h"
#include "restart/staged_bytes.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace ckpt::restart
{

namespace
{

constexpr std::size_t page_size = 4096;
constexpr std::size_t piece_size = 1u << 20; /* copied, then released */

bool is_zero(std::span<const std::byte> bytes)
{
    return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte(); });
}

} // namespace

StagedBytes::StagedBytes(std::size_t size)
{
    void *address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) {
        fail_errno(errno, "no memory for {} bytes of a file", size);
    }
    bytes_ = {static_cast<std::byte *>(address), size};
}

StagedBytes::StagedBytes(StagedBytes &&other) noexcept
    : bytes_(std::exchange(other.bytes_, {}))
{
}

StagedBytes::~StagedBytes()
{
    if (!bytes_.empty()) {
        (void)::munmap(bytes_.data(), bytes_.size());
    }
}

void StagedBytes::give_back(std::size_t from, std::size_t size) const
{
    CKPT_EXPECT(from <= bytes_.size() && size <= bytes_.size() - from);
    const std::size_t first = (from + page_size - 1) / page_size * page_size;
    const std::size_t end = (from + size) / page_size * page_size;
    if (first < end) {
        (void)::madvise(bytes_.data() + first, end - first, MADV_DONTNEED);
    }
}

void StagedBytes::move_to(std::span<std::byte> destination, bool skip_zeros) const
{
    CKPT_EXPECT(destination.size() <= bytes_.size());
    for (std::size_t from = 0; from < destination.size(); from += piece_size) {
        const std::size_t end = std::min(from + piece_size, destination.size());
        for (std::size_t at = from; at < end; at += page_size) {
            const auto page = bytes_.subspan(at, std::min(page_size, end - at));
            if (!skip_zeros || !is_zero(page)) {
                std::memcpy(destination.data() + at, page.data(), page.size());
            }
        }
        give_back(from, end - from);
    }
}

FileContents::FileContents(const std::vector<ckpt_region> &regions)
{
    for (std::size_t i = 0; i < regions.size();) {
        std::size_t next = i + 1;
        if (regions[i].kind == CKPT_REGION_FILE_CONTENT) {
            while (next < regions.size() && regions[next].kind == CKPT_REGION_FILE_CONTENT &&
                   regions[next].start == regions[next - 1].end) {
                next++;
            }
            const std::uint64_t start = regions[i].start;
            runs_.push_back({start, StagedBytes(regions[next - 1].end - start)});
        }
        i = next;
    }
}

const FileContents::Run *FileContents::run_of(std::uint64_t address, std::uint64_t size) const
{
    auto run = std::ranges::upper_bound(runs_, address, {}, &Run::start);
    if (run == runs_.begin()) {
        return nullptr;
    }
    --run;
    const std::uint64_t offset = address - run->start, length = run->staged.bytes().size();
    return offset <= length && size <= length - offset ? &*run : nullptr;
}

std::span<std::byte> FileContents::find(std::uint64_t address, std::uint64_t size) const
{
    const Run *run = run_of(address, size);
    return run == nullptr ? std::span<std::byte>()
                          : run->staged.bytes().subspan(address - run->start, size);
}

void FileContents::give_back(std::uint64_t address, std::uint64_t size) const
{
    const Run *run = run_of(address, size);
    if (run != nullptr) {
        run->staged.give_back(address - run->start, size);
    }
}

} // namespace ckpt::restart
