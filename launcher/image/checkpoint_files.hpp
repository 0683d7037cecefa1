/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint_files.hpp - the names of what is in a checkpoint's directory. What has another
 * name is not ours, and stays whatever happens to the checkpoint.
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

/* "000001", and back; nothing if no checkpoint's directory has that name. */
std::string checkpoint_directory_name(std::uint64_t number);
std::optional<std::uint64_t> checkpoint_number(std::string_view directory_name);

/* The name, with '_' for each character but letters, digits, '.', '_' and '-'. */
std::string file_name_part(std::string name);

/* "node-HOST.h5", of such a part. */
std::string node_file_name(const std::string &host);
/* "whole-HOST.h5": of a piece that was folded. */
std::string whole_file_name(const std::string &host);
/* "parity-HOST.bin": what protects the pieces of other nodes. */
std::string parity_file_name(const std::string &host);
/* "rank-N.log": messages, while the checkpoint is written. */
std::string message_log_name(int rank);

/* Whether we give files such names in a checkpoint's directory, while they are written too. */
bool is_checkpoint_file(std::string_view name);

/*
 * Removes the files of a checkpoint, its manifest first, so that it never looks whole, then
 * its directory. Nothing is followed, and nothing removed that is not ours: returns the names
 * of what stays, and the directory then stays too. What has gone already is well. Throws Error.
 */
std::vector<std::string> remove_checkpoint_files(const std::filesystem::path &directory);

/* Removes of these what the manifest does not name: files of a crash, and pieces that have
 * been folded. Throws Error. */
void remove_files_without_use(const std::filesystem::path &directory, const Manifest &manifest);

} // namespace ckpt
