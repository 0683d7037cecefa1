/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * missing_pages.hpp - which pages of a lazily restarted process are missing, where they are now,
 * and where they were when the process was saved.
 *
 * A page is in the list until it has its content, or the program does not need that any more.
 * Memory that is not in the list reads as zeros when it is touched for the first time.
 */
#pragma once

#include "image/model/page_ranges.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ckpt::restart
{

/* Missing pages that belong together: consecutive now, and consecutive in the image. */
struct MissingPiece {
    std::uint64_t address; /* now; page-aligned */
    std::uint64_t saved;   /* in the image */
    std::uint64_t size;    /* bytes; whole pages */

    std::uint64_t end() const { return address + size; }
};

class MissingPages
{
  public:
    /* block: bytes of a chunk of the image. A piece does not cross the border of a block; blocks
     * are counted from the start of each region. */
    explicit MissingPages(std::uint64_t block);

    /* Adds a region whose content lies in `content`, at its saved address. Regions ascend. */
    void add(const ckpt_range &region, const PageRanges &content);

    /* The pages have their content now, or their content is of no use any more. */
    void remove(const ckpt_range &range);

    /* The program has moved this memory. It needs no page that was missing at the new place. */
    void move(std::uint64_t from, std::uint64_t to, std::uint64_t size);

    /* Returns the piece with this address; nothing if the page there is not missing. */
    std::optional<MissingPiece> at(std::uint64_t address) const;

    /* Returns the first piece at or after the address, or else the first of all; nothing if no
     * page is missing. */
    std::optional<MissingPiece> next(std::uint64_t address) const;

    bool empty() const { return runs_.empty(); }
    /* Returns the number of missing bytes. */
    std::uint64_t bytes() const;

  private:
    using Runs = std::map<std::uint64_t, MissingPiece>; /* by address; they do not overlap */
    MissingPiece within_block(const MissingPiece &run, std::uint64_t address) const;
    Runs::const_iterator run_at(std::uint64_t address) const;
    void split(std::uint64_t address);

    std::uint64_t block_;
    std::vector<ckpt_range> regions_; /* saved addresses, ascending */
    Runs runs_;
};

} // namespace ckpt::restart
