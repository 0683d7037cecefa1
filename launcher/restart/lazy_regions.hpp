/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lazy_regions.hpp - which memory of a process may come after it runs again, and whether the user
 * wants that.
 */
#pragma once

#include "image/model/rank_image.hpp"
#include "restart/missing_pages.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace ckpt::restart
{

enum class Laziness {
    no,
    automatic, /* if this host and the job allow it */
    always,    /* or not at all */
};

/* Reads CKPT_LAZY. Throws Error if it has another value than no, auto or always. */
Laziness laziness_of_environment();

/* Returns why this process must have all memory before it runs; empty: nothing. */
std::string obstacle_to_laziness(const RankImage &image);

/*
 * Returns the indices of the regions whose pages can come later: large private memory. The restart
 * program itself does not read it. chunk_size: of the image's file.
 */
std::set<std::size_t> lazy_regions(const RankImage &image, std::uint64_t chunk_size);

/* Returns the content of these regions as missing. */
MissingPages missing_pages(const RankImage &image, const std::set<std::size_t> &regions,
                           std::uint64_t chunk_size);

} // namespace ckpt::restart
