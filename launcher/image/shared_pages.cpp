/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_pages.cpp - pages of an image whose content is stored with other pages of the
 * same file.
 */
#include "config.h"
#include "image/shared_pages.hpp"

#include "common/error.hpp"
#include "image/page_lookup.hpp"

#include <algorithm>
#include <utility>

namespace ckpt
{

namespace
{

constexpr std::uint64_t page_size = 4096;

PageRanges ranges_of(const std::vector<SharedRun> &runs)
{
    PageRanges ranges;
    for (const SharedRun &run : runs) {
        append_range(ranges, {run.start, run.end});
    }
    return ranges;
}

/* Pages that an image has in its own chunks. */
PageRanges stored_pages(const RankImage &image)
{
    const PageRanges all = partial_regions(image);
    return image.is_partial ? pages_of(image, PageRun::data, all) : all;
}

} // namespace

std::map<int, std::vector<SharedPage>> shared_pages(const RankImage &image,
                                                    const PageRanges &wanted)
{
    std::map<int, std::vector<SharedPage>> found;
    auto run = image.shared_runs.begin();
    for (const ckpt_range &range : intersect(ranges_of(image.shared_runs), wanted)) {
        for (std::uint64_t here = range.start; here < range.end; here += page_size) {
            while (run->end <= here) {
                ++run;
            }
            found[static_cast<int>(run->rank)].push_back(
                {run->there + (here - run->start), here});
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
    const PageRanges stray = subtract(ranges_of(image.shared_runs), stored_pages(image));
    if (!stray.empty()) {
        fail("{}: the page at {:x} cannot be shared", whose, stray.front().start);
    }
}

void require_shared_places(const RankImage &image, const std::map<int, RankImage> &ranks,
                           const std::string &whose)
{
    std::map<int, PageRanges> wanted;
    for (const SharedRun &run : image.shared_runs) {
        wanted[static_cast<int>(run.rank)].push_back(
            {run.there, run.there + (run.end - run.start)});
    }
    for (auto &[rank, places] : wanted) {
        auto owner = ranks.find(rank);
        if (owner == ranks.end()) {
            fail("{}: pages are shared with rank {}, which is not there", whose, rank);
        }
        std::ranges::sort(places, {}, &ckpt_range::start);
        const PageRanges stored = subtract(stored_pages(owner->second),
                                           ranges_of(owner->second.shared_runs));
        const PageRanges missing = subtract(unite(places, {}), stored);
        if (!missing.empty()) {
            fail("{}: rank {} does not have the shared page at {:x}", whose, rank,
                 missing.front().start);
        }
    }
}

} // namespace ckpt
