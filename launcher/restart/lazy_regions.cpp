/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lazy_regions.cpp - chooses the regions that a page server fills.
 */
#include "config.h"
#include "restart/lazy_regions.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace ckpt::restart
{

namespace
{

/* Bytes. The faults for a smaller region would take as long as reading it. */
constexpr std::uint64_t least_content = 1u << 20;

bool has(const ckpt_region &region, std::uint64_t address)
{
    return address >= region.start && address < region.end;
}

/* Whether the restart program itself reads the region: descriptions of descriptors, the auxiliary
 * vector. */
bool is_read_at_once(const RankImage &image, const ckpt_region &region)
{
    return has(region, image.snapshot.layout.auxv) ||
           std::ranges::any_of(image.files, [&](const ckpt_file &file) {
               return file.payload_size > 0 && has(region, file.payload);
           });
}

} // namespace

Laziness laziness_of_environment()
{
    const char *value = std::getenv("CKPT_LAZY");
    const std::string_view text = value == nullptr ? "" : value;
    if (text.empty() || text == "no") {
        return Laziness::no;
    }
    if (text != "auto" && text != "always") {
        fail("CKPT_LAZY={} is not no, auto or always", text);
    }
    return text == "auto" ? Laziness::automatic : Laziness::always;
}

/* Independent checkpoints of other ranks may replace this one before all of it is read. */
std::string obstacle_to_laziness(const RankImage &image)
{
    if (image.snapshot.version == CKPT_SNAPSHOT_OLDEST) {
        return "the checkpoint was made by an older version of ckpt";
    }
    const char *protocol = std::getenv("CKPT_PROTOCOL");
    const bool is_independent = protocol != nullptr && std::strcmp(protocol, "independent") == 0;
    return is_independent ? "checkpoints with --protocol independent do not wait for each other"
                          : "";
}

std::set<std::size_t> lazy_regions(const RankImage &image, std::uint64_t chunk_size)
{
    std::set<std::size_t> lazy;
    for (std::size_t i = 0; i < image.regions.size(); i++) {
        const ckpt_region &region = image.regions[i];
        const bool is_suitable =
            region.kind == CKPT_REGION_ANONYMOUS || region.kind == CKPT_REGION_HEAP;
        if (!is_suitable || region.end - region.start < least_content ||
            is_read_at_once(image, region)) {
            continue;
        }
        const PageRanges content = content_of(image, static_cast<std::uint32_t>(i), chunk_size);
        if (length_of(content) >= least_content) {
            lazy.insert(i);
        }
    }
    return lazy;
}

MissingPages missing_pages(const RankImage &image, const std::set<std::size_t> &regions,
                           std::uint64_t chunk_size)
{
    MissingPages missing(chunk_size);
    for (const std::size_t i : regions) {
        CKPT_EXPECT(i < image.regions.size() && may_be_packed(image.regions[i]));
        missing.add({image.regions[i].start, image.regions[i].end},
                    content_of(image, static_cast<std::uint32_t>(i), chunk_size));
    }
    return missing;
}

} // namespace ckpt::restart
