/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_lookup.hpp - where in an image the content of pages is, by their addresses: in
 * chunks of regions, or of the pages that have changed.
 */
#pragma once

#include "image/page_ranges.hpp"
#include "image/rank_image.hpp"

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
    const ChunkRecord *chunk; /* of the image's chunks, or of its pages */
    std::vector<PageCopy> copies;
};

/* What the image itself has of the wanted pages, chunk by chunk. What is not stored is
 * zero, or inherited. chunk_size: the file's. */
std::vector<ChunkCopies> find_pages(const RankImage &image, std::uint64_t chunk_size,
                                    const PageRanges &wanted);

/* Regions of which an image may have no more than what has changed. */
PageRanges packable_regions(const RankImage &image);

/* Those of the wanted pages that are in runs of that kind. */
PageRanges pages_of(const RankImage &image, PageRun::Kind kind, const PageRanges &wanted);

/* Throws Error, beginning with `whose`, unless the runs are in order, in regions that
 * may_be_packed(), and their data fill the pages. */
void require_sane_page_runs(const RankImage &image, std::uint64_t chunk_size,
                            const ChunkFile &file, const std::string &whose);

/* Throws Error, beginning with `whose`, unless what the image inherits is in the base. */
void require_base(const RankImage &image, const RankImage &base,
                  const std::string &whose);

} // namespace ckpt
