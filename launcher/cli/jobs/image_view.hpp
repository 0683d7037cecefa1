/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * image_view.hpp - describes the content of a checkpoint as JSON.
 *
 * `ckpt inspect` prints the JSON, or text made from it.
 */
#pragma once

#include "image/store/manifest.hpp"
#include "image/model/rank_image.hpp"

#include <nlohmann/json.hpp>

namespace ckpt::cli
{

using Json = nlohmann::ordered_json;

/* Job, number, ranks, launch command, timings, files. */
Json view_of_manifest(const Manifest &manifest);

/* Totals for one rank: counts and bytes, without lists. */
Json view_of_rank(const RankImage &image);

/* Regions, threads, files, MPI objects: everything except the content of memory.
 * chunk_size: that of the file. */
Json detailed_view_of_rank(const RankImage &image, std::uint64_t chunk_size);

} // namespace ckpt::cli
