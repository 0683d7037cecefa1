/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * concealed.hpp - where a job's concealed outputs are, for the launcher.
 *
 * ckpt/journal.h documents the layout.
 */
#pragma once

#include "common/fd.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace ckpt::journal
{

/* Whether the job conceals its outputs. journal: the journal's directory, which may be
 * missing. */
bool is_concealed(const std::filesystem::path &journal);

/* Switches concealing on or off for processes that start from now on. Throws Error. */
void set_concealed(const std::filesystem::path &journal, bool conceals);

/* Locks all concealed objects against the processes of the job, with the lock that these
 * also use among themselves. Throws Error. */
Fd lock_concealed(const std::filesystem::path &journal);

/* Returns the directories ("places") that have concealed objects. PLACE/a/b is the object
 * that the program knows as /a/b. */
std::vector<std::filesystem::path> places_of(const std::filesystem::path &journal);

/* Returns the program's name for a path in a place; "" for other paths. */
std::string revealed_name(const std::string &path);

/* Whether the path is a mark that the program has removed a visible object. */
bool is_gone(const std::filesystem::path &path);

/* Returns the names, as the program knows them, of all concealed objects in the place,
 * parents first. Leaves out directories that only contain other concealed objects. */
std::vector<std::string> names_in_place(const std::filesystem::path &place);

/* Discards the record of files with several names, because copies of them are about to be
 * revealed. */
void forget_links(const std::filesystem::path &place);

/* Removes a place without concealed objects, and its link in the journal. If objects are
 * left, returns their names. */
std::vector<std::string> remove_place(const std::filesystem::path &journal,
                                      const std::filesystem::path &place);

} // namespace ckpt::journal
