/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint_files.hpp - names of the files in a checkpoint's directory. A file with any other
 * name does not belong to ckpt and is never removed.
 */
#pragma once

#include "image/manifest.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt
{

/* Converts a checkpoint's number to its directory name ("000001") and back. checkpoint_number()
 * returns nothing for any other name. */
std::string checkpoint_directory_name(std::uint64_t number);
std::optional<std::uint64_t> checkpoint_number(std::string_view directory_name);

/* Replaces each character of the name by '_', except letters, digits, '.', '_' and '-'. */
std::string file_name_part(std::string name);

/* "node-HOST.h5"; HOST goes through file_name_part(). */
std::string node_file_name(const std::string &host);
/* "whole-HOST.h5": a folded piece (piece_fold.hpp). */
std::string whole_file_name(const std::string &host);
/* "parity-HOST.bin": redundancy data for the pieces of other nodes. */
std::string parity_file_name(const std::string &host);
/* "rank-N.log": the rank's logged messages, while the checkpoint is being written. */
std::string message_log_name(int rank);

/* Whether ckpt gives such names to files in a checkpoint's directory, including temporary
 * names. */
bool is_checkpoint_file(std::string_view name);

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
