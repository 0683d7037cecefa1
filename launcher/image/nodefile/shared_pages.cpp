/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_pages.cpp - pages of an image whose content is stored with other pages of the
 * same file.
 */
#include "config.h"
#include "image/nodefile/shared_pages.hpp"

#include "common/error.hpp"
#include "image/nodefile/page_lookup.hpp"

#include <algorithm>
#include <utility>

namespace ckpt
{

namespace
{

constexpr std::uint64_t page_size = 4096;

/* Returns the pages that the image has, or may have, in its own chunks. */
PageRanges stored_pages(const RankImage &image)
{
    const PageRanges all = packable_regions(image);
    return image.is_packed ? pages_of(image, PageRun::data, all) : all;
}

/* Returns the places in each rank that the image's shared runs refer to, in any
 * order. */
std::map<int, PageRanges> referred_places(const RankImage &image)
{
    std::map<int, PageRanges> places;
    for (const SharedRun &run : image.shared_runs) {
        places[static_cast<int>(run.rank)].push_back(
            {run.there, run.there + (run.end - run.start)});
    }
    return places;
}

} // namespace

std::map<int, std::vector<SharedPage>> shared_pages(const RankImage &image,
                                                    const PageRanges &wanted)
{
    std::map<int, std::vector<SharedPage>> found;
    for (const ckpt_range &range : wanted) {
        for (const SharedRun &run : shared_runs_in(image, range)) {
            const std::uint64_t end = std::min(run.end, range.end);
            for (std::uint64_t here = std::max(run.start, range.start); here < end;
                 here += page_size) {
                found[static_cast<int>(run.rank)].push_back(
                    {run.there + (here - run.start), here});
            }
        }
    }
    for (auto &[rank, pages] : found) {
        std::ranges::sort(pages, {}, &SharedPage::there);
    }
    return found;
}

PageRanges places_of(const std::vector<SharedPage> &pages)
{
    PageRanges places;
    for (const SharedPage &page : pages) {
        append_range(places, {page.there, page.there + page_size});
    }
    return places;
}

void require_sane_shared_runs(const RankImage &image, const std::string &whose)
{
    std::uint64_t last_end = 0;
    for (const SharedRun &run : image.shared_runs) {
        const bool sane = run.start >= last_end && run.start < run.end &&
                          ((run.start | run.end | run.there) % page_size) == 0 &&
                          run.there + (run.end - run.start) > run.there;
        if (!sane) {
            fail("{}: the shared pages at {:x} have an impossible record", whose,
                 run.start);
        }
        last_end = run.end;
    }
    const PageRanges stray = subtract(shared_ranges(image), stored_pages(image));
    if (!stray.empty()) {
        fail("{}: the page at {:x} cannot be shared", whose, stray.front().start);
    }
}

void require_shared_places(const std::map<int, RankImage> &ranks)
{
    std::map<int, PageRanges> stored; /* by rank; only ranks that are referred to */
    for (const auto &[rank, image] : ranks) {
        for (auto &[owner, places] : referred_places(image)) {
            auto found = ranks.find(owner);
            if (found == ranks.end()) {
                fail("rank {}: pages are shared with rank {}, which is not there", rank,
                     owner);
            }
            auto [there, is_new] = stored.try_emplace(owner);
            if (is_new) {
                there->second =
                    subtract(stored_pages(found->second), shared_ranges(found->second));
            }
            std::ranges::sort(places, {}, &ckpt_range::start);
            const PageRanges missing = subtract(unite(places, {}), there->second);
            if (!missing.empty()) {
                fail("rank {}: rank {} does not have the shared page at {:x}", rank, owner,
                     missing.front().start);
            }
        }
    }
}

} // namespace ckpt
