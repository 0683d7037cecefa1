/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * piece_chain.hpp - a piece of a checkpoint with the pieces that it was made on top of,
 * which are in other checkpoints of the job.
 */
#pragma once

#include "image/manifest.hpp"
#include "image/node_file_reader.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace ckpt
{

/* Opens a piece of the checkpoint in `directory` and, beside that, those under it. Throws
 * Error, also if one of them is missing or another one than it was. */
NodeFileReader open_piece(const std::filesystem::path &directory,
                          const Manifest &manifest, const Piece &piece,
                          unsigned threads = 0);

/* The manifest of a checkpoint of the same job; null if it is not there, or not whole. */
using ManifestOf = std::function<const Manifest *(std::uint64_t number)>;

/* Why the checkpoint cannot be read for want of what it was made on top of, directly;
 * empty if it can. */
std::string missing_base(const Manifest &manifest, const ManifestOf &manifest_of);

} // namespace ckpt
