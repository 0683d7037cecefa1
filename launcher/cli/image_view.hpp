/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * image_view.hpp - the contents of a checkpoint in words, as JSON.
 *
 * `ckpt inspect` prints this as it is, or as text made from it.
 */
#pragma once

#include "image/manifest.hpp"
#include "image/rank_image.hpp"

#include <nlohmann/json.hpp>

namespace ckpt::cli
{

using Json = nlohmann::ordered_json;

/* Job, number, ranks, launch command, timings, files. */
Json view_of_manifest(const Manifest &manifest);

/* What one rank takes: counts and bytes, no lists. */
Json view_of_rank(const RankImage &image);

/* Regions, threads, files, MPI objects: everything but bytes of memory. chunk_size: of the
 * file. */
Json detailed_view_of_rank(const RankImage &image, std::uint64_t chunk_size);

} // namespace ckpt::cli
