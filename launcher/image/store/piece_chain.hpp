/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * piece_chain.hpp - an incremental piece and the pieces on which it builds, which are in
 * other checkpoints of the job.
 */
#pragma once

#include "image/store/manifest.hpp"
#include "image/nodefile/node_file_reader.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace ckpt
{

/* Opens a piece of the checkpoint in `directory`, and the pieces on which it builds, in
 * the directories beside that. Throws Error, also if one of them is missing or was
 * replaced by another one. */
NodeFileReader open_piece(const std::filesystem::path &directory,
                          const Manifest &manifest, const Piece &piece,
                          unsigned threads = 0);

/* Returns the manifest of a checkpoint of the same job; null if the checkpoint is missing
 * or incomplete. */
using ManifestOf = std::function<const Manifest *(std::uint64_t number)>;

/* Returns why the checkpoint cannot be read if the checkpoint on which it directly builds
 * is missing; empty if it is there. */
std::string missing_base(const Manifest &manifest, const ManifestOf &manifest_of);

} // namespace ckpt
