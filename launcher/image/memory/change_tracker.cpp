/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * change_tracker.cpp - finds the pages that differ from those in the last committed
 * checkpoint.
 */
#include "config.h"
#include "image/memory/change_tracker.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace ckpt
{

namespace
{

constexpr std::uint64_t page_size = 4096;
constexpr std::uint64_t piece_size = 1u << 20; /* bytes per read */

} // namespace

/* ---- Pages that the kernel reports as written --------------------------------- */

WatchedChanges::WatchedChanges(pid_t pid, PageWatch watch)
    : pid_(pid), watch_(std::move(watch))
{
}

/* A device may write into the memory without the kernel noticing (obstacle()). If one
 * could do so when the process was last marked, it may have done so until now, and
 * all pages count as changed. */
void WatchedChanges::mark(const PageRanges &ranges, const PageRanges &excluded)
{
    PageRanges found;
    for (const ckpt_range &range : ranges) {
        try {
            for (const ckpt_range &written : watch_.look(range)) {
                append_range(found, written);
            }
        } catch (const Error &) {
            append_range(found, range);
        }
    }
    written_ = unite(written_, found);
    excluded_ = excluded;
    all_ = all_ || !obstacle_.empty();
    obstacle_ = PageWatch::obstacle(pid_);
}

PageRanges WatchedChanges::changed(const RemoteMemory &, const PageRanges &data)
{
    return all_ ? data : intersect(data, written_);
}

void WatchedChanges::committed()
{
    written_ = excluded_;
    all_ = false;
}

/* ---- Content ------------------------------------------------------------------ */

std::vector<ContentChanges::Page> ContentChanges::hash(const RemoteMemory &memory,
                                                       const PageRanges &data) const
{
    struct Piece {
        ckpt_range range;
        std::size_t first; /* index of its first page */
    };
    std::vector<Piece> pieces;
    std::size_t count = 0;
    for (const ckpt_range &range : data) {
        for (std::uint64_t at = range.start; at < range.end; at += piece_size) {
            ckpt_range part = {at, std::min(at + piece_size, range.end)};
            pieces.push_back({part, count});
            count += (part.end - part.start) / page_size;
        }
    }
    CKPT_INVARIANT(count * page_size == length_of(data));
    std::vector<Page> pages(count);
    parallel_for(pieces.size(), threads_, [&](std::size_t i) {
        thread_local std::vector<std::byte> buffer(piece_size);
        const auto &[range, first] = pieces[i];
        std::span content = std::span(buffer).first(range.end - range.start);
        memory.read_runs(range.start, {&range, 1}, content);
        for (std::size_t j = 0; j * page_size < content.size(); j++) {
            pages[first + j] = {range.start + j * page_size,
                                XXH3_128bits(&content[j * page_size], page_size)};
        }
    });
    return pages;
}

PageRanges ContentChanges::changed(const RemoteMemory &memory, const PageRanges &data)
{
    PageRanges found;
    auto before = committed_.begin();
    latest_ = hash(memory, data);
    for (const Page &page : latest_) {
        while (before != committed_.end() && before->address < page.address) {
            ++before;
        }
        bool is_same = before != committed_.end() && before->address == page.address &&
                       XXH128_isEqual(before->hash, page.hash) != 0;
        if (!is_same) {
            append_range(found, {page.address, page.address + page_size});
        }
    }
    CKPT_INVARIANT(length_of(found) <= length_of(data));
    return found;
}

void ContentChanges::committed()
{
    committed_ = std::exchange(latest_, {});
}

} // namespace ckpt
