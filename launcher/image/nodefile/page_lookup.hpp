/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_lookup.hpp - finds the content of pages in an image by their addresses: in chunks
 * of regions, or in the chunks of packed pages.
 */
#pragma once

#include "image/model/page_ranges.hpp"
#include "image/model/rank_image.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ckpt
{

/* A part of a chunk's content, and the address of its first byte in the process. */
struct PageCopy {
    std::size_t offset;
    std::size_t length;
    std::uint64_t address;
};

struct ChunkCopies {
    const ChunkRecord *chunk; /* one of the image's chunks, or of its packed pages */
    std::vector<PageCopy> copies;
};

/* Returns where the image itself has the wanted pages, chunk by chunk. Pages that it does
 * not store are zero or inherited from the base. chunk_size: that of the file. */
std::vector<ChunkCopies> find_pages(const RankImage &image, std::uint64_t chunk_size,
                                    const PageRanges &wanted);

/* Returns the regions that a packed image may store as page runs. */
PageRanges packable_regions(const RankImage &image);

/* Returns the wanted pages that are in runs of that kind. */
PageRanges pages_of(const RankImage &image, PageRun::Kind kind, const PageRanges &wanted);

/* Throws Error, beginning with `whose`, unless the runs are in order and lie in
 * regions for which may_be_packed() holds. Their data must have the length of the
 * packed pages. */
void require_sane_page_runs(const RankImage &image, std::uint64_t chunk_size,
                            const ChunkFile &file, const std::string &whose);

/* Throws Error, beginning with `whose`, unless the base has all pages that the image
 * inherits. */
void require_base(const RankImage &image, const RankImage &base,
                  const std::string &whose);

} // namespace ckpt
