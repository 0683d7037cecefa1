/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint_names.hpp - names of the files in a checkpoint's directory.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ckpt
{

/* The manifest makes a checkpoint complete; the trace tells what happened while it was taken. */
inline constexpr const char *manifest_name = "manifest.json";
inline constexpr const char *trace_name = "trace.json";

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

} // namespace ckpt
