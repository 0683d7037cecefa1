/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chunk_source.cpp - reads chunks from a process, from an image or from a copy in
 * memory.
 */
#include "config.h"
#include "image/memory/chunk_source.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/memory.hpp"
#include "common/parallel.hpp"
#include "image/nodefile/node_file_reader.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <new>

namespace ckpt
{

namespace
{

constexpr std::size_t page_size = 4096;

std::size_t whole_pages(std::size_t size)
{
    return (size + page_size - 1) / page_size * page_size;
}

std::uint64_t bytes_of(const ChunkPlan &plan)
{
    std::uint64_t bytes = 0;
    for (const ChunkJob &job : plan.jobs) {
        bytes += whole_pages(job.size);
    }
    return bytes;
}

void read_chunk(const RemoteMemory &memory, const ChunkPlan &plan,
                const ChunkJob &job, std::span<std::byte> chunk)
{
    CKPT_EXPECT(job.first_run + job.run_count <= plan.runs.size());
    CKPT_EXPECT(chunk.size() == job.size);
    std::span runs = std::span(plan.runs).subspan(job.first_run, job.run_count);
    std::uint64_t end = job.address + job.size;
    if (job.is_packed) {
        std::uint64_t length = length_of({runs.begin(), runs.end()});
        CKPT_INVARIANT(length <= chunk.size());
        memory.read_packed(runs, chunk.first(length));
        std::ranges::fill(chunk.subspan(length), std::byte{0});
        return;
    }
    if (job.is_file) {
        std::uint64_t at = job.address;
        for (const ckpt_range &run : runs) {
            const std::uint64_t from = std::max(at, run.start), to = std::min(end, run.end);
            std::ranges::fill(chunk.subspan(at - job.address, from - at), std::byte{0});
            memory.read_file_mapping(from, chunk.subspan(from - job.address, to - from),
                                     job.end_of_file);
            at = to;
        }
        std::ranges::fill(chunk.subspan(at - job.address), std::byte{0});
        return;
    }
    memory.read_runs(job.address, runs, chunk);
}

} // namespace

/* ---- A process ------------------------------------------------------------- */

void ProcessSource::read(const ChunkPlan &plan, const ChunkJob &job,
                         std::span<std::byte> chunk)
{
    read_chunk(memory_, plan, job, chunk);
}

void ProcessSource::release(const ChunkPlan &plan, const ChunkJob &job) noexcept
{
    if (copy_ == nullptr) {
        return;
    }
    if (job.is_packed) {
        for (const ckpt_range &run :
             std::span(plan.runs).subspan(job.first_run, job.run_count)) {
            copy_->release(run);
        }
        return;
    }
    std::uint64_t end = job.address + job.size;
    std::uint64_t last = plan.runs[job.first_run + job.run_count - 1].end;
    copy_->release({job.address, std::min(end, last)});
}

/* ---- An image ----------------------------------------------------------------- */

void ImageSource::read(const ChunkPlan &plan, const ChunkJob &job,
                       std::span<std::byte> chunk)
{
    CKPT_EXPECT(job.first_run + job.run_count <= plan.runs.size());
    CKPT_EXPECT(chunk.size() == job.size);
    std::span runs = std::span(plan.runs).subspan(job.first_run, job.run_count);
    std::ranges::fill(chunk, std::byte{0});
    if (job.is_packed) {
        std::vector<MemoryPlace> places;
        for (std::size_t position = 0; const ckpt_range &run : runs) {
            places.push_back({run.start, chunk.subspan(position, run.end - run.start)});
            position += run.end - run.start;
        }
        reader_.read_pages(rank_, places);
        return;
    }
    PageRanges wanted =
        intersect({runs.begin(), runs.end()}, {{job.address, job.address + job.size}});
    std::vector<MemoryPlace> places;
    for (const ckpt_range &range : wanted) {
        places.push_back({range.start, chunk.subspan(range.start - job.address,
                                                     range.end - range.start)});
    }
    reader_.read_pages(rank_, places);
}

/* ---- A copy in memory ------------------------------------------------------- */

MemorySource::MemorySource(const ChunkPlan &plan, std::byte *base, std::size_t size)
    : base_(base), size_(size)
{
    for (std::size_t offset = 0; const ChunkJob &job : plan.jobs) {
        offsets_.push_back(offset);
        offset += whole_pages(job.size);
    }
}

void MemorySource::fill(const RemoteMemory &memory, const ChunkPlan &plan, unsigned threads,
                        const std::atomic<bool> &cancelled)
{
    parallel_for(plan.jobs.size(), threads, [&](std::size_t i) {
        if (cancelled.load(std::memory_order_relaxed)) {
            fail("the checkpoint was cancelled");
        }
        read_chunk(memory, plan, plan.jobs[i], place(plan, plan.jobs[i]));
    });
}

/* One eighth of the memory stays free: how much the program will write is not known
 * yet. */
std::unique_ptr<MemorySource> MemorySource::copy(const RemoteMemory &memory,
                                                 const ChunkPlan &plan, unsigned threads,
                                                 const std::atomic<bool> &cancelled)
{
    const std::uint64_t available = available_memory();
    const std::uint64_t size = bytes_of(plan);
    void *address = nullptr;
    if (size > available - available / 8) {
        return nullptr;
    }
    if (size > 0) {
        address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (address == MAP_FAILED) {
            return nullptr;
        }
    }
    std::unique_ptr<MemorySource> source(
        new MemorySource(plan, static_cast<std::byte *>(address), size));
    source->fill(memory, plan, threads, cancelled);
    return source;
}

MemorySource::~MemorySource()
{
    if (base_ != nullptr) {
        ::munmap(base_, size_);
    }
}

std::span<std::byte> MemorySource::place(const ChunkPlan &plan,
                                         const ChunkJob &job) const
{
    auto index = static_cast<std::size_t>(&job - plan.jobs.data());
    CKPT_EXPECT(index < offsets_.size());
    CKPT_INVARIANT(offsets_[index] + whole_pages(job.size) <= size_);
    return {base_ + offsets_[index], job.size};
}

void MemorySource::read(const ChunkPlan &plan, const ChunkJob &job,
                        std::span<std::byte> chunk)
{
    CKPT_EXPECT(chunk.size() >= job.size);
    std::ranges::copy(place(plan, job), chunk.begin());
}

void MemorySource::release(const ChunkPlan &plan, const ChunkJob &job) noexcept
{
    std::span<std::byte> chunk = place(plan, job);
    (void)::madvise(chunk.data(), whole_pages(chunk.size()), MADV_DONTNEED);
}

} // namespace ckpt
