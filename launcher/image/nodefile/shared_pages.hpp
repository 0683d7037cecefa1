/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_pages.hpp - pages of an image whose content is stored with other pages of the
 * same file: finds and validates them.
 */
#pragma once

#include "image/model/page_ranges.hpp"
#include "image/model/rank_image.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ckpt
{

/* A page (`here`), and the page that has its content (`there`). */
struct SharedPage {
    std::uint64_t there;
    std::uint64_t here;
};

/* Returns the wanted pages that are stored with other pages, by the rank that stores
 * them; each list ascends by the place there. */
std::map<int, std::vector<SharedPage>> shared_pages(const RankImage &image,
                                                    const PageRanges &wanted);

/* Returns the places in such a list, each once. */
PageRanges places_of(const std::vector<SharedPage> &pages);

/* Throws Error, beginning with `whose`, unless the runs are in order and lie in memory
 * whose pages are in the image. */
void require_sane_shared_runs(const RankImage &image, const std::string &whose);

/* Throws Error, naming the rank, unless the file stores each page that its ranks refer
 * to, and no such page refers to another one. */
void require_shared_places(const std::map<int, RankImage> &ranks);

} // namespace ckpt
