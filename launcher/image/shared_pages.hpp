/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_pages.hpp - pages of an image whose content is stored with other pages of the
 * same file: where, and whether that can be.
 */
#pragma once

#include "image/page_ranges.hpp"
#include "image/rank_image.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ckpt
{

/* A page, and the one that has its content. */
struct SharedPage {
    std::uint64_t there;
    std::uint64_t here;
};

/* Those of the wanted pages that are elsewhere, by the rank that has them; each list by
 * rising place there. */
std::map<int, std::vector<SharedPage>> shared_pages(const RankImage &image,
                                                    const PageRanges &wanted);

/* The places of such a list, each once. */
PageRanges places_of(const std::vector<SharedPage> &pages);

/* Throws Error, beginning with `whose`, unless the runs are in order, and in memory whose
 * pages are in the image. */
void require_sane_shared_runs(const RankImage &image, const std::string &whose);

/* Throws Error, naming the rank, unless all that the ranks of a file refer to is stored
 * with one of them, and is elsewhere in its turn nowhere. */
void require_shared_places(const std::map<int, RankImage> &ranks);

} // namespace ckpt
