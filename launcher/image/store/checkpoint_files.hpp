/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint_files.hpp - removes files of a checkpoint from its directory. A file whose name ckpt
 * does not give (checkpoint_names.hpp) is never removed.
 */
#pragma once

#include "image/model/checkpoint_names.hpp"
#include "image/store/manifest.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace ckpt
{

/*
 * Removes the files of a checkpoint, then its directory. The manifest goes first, so that an
 * incomplete checkpoint never looks complete. Does not follow symbolic links. Ignores files
 * that are gone already. Files that do not belong to ckpt stay, and so does the directory then;
 * returns their names. Throws Error.
 */
std::vector<std::string> remove_checkpoint_files(const std::filesystem::path &directory);

/* Removes the checkpoint's files that the manifest does not name: leftovers of a crash, and
 * pieces that were folded. Throws Error. */
void remove_files_without_use(const std::filesystem::path &directory, const Manifest &manifest);

} // namespace ckpt
