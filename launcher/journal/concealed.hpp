/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * concealed.hpp - where outputs of a job are concealed, as the launcher sees it.
 *
 * ckpt/journal.h has the layout.
 */
#pragma once

#include "common/fd.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace ckpt::journal
{

/* Whether the job conceals its outputs. journal: its directory, which need not exist. */
bool is_concealed(const std::filesystem::path &journal);

/* From now on processes that start do so, or do not. Throws Error. */
void set_concealed(const std::filesystem::path &journal, bool conceals);

/* Holds all concealed objects against the processes of the job, as they hold them against
 * each other. Throws Error. */
Fd lock_concealed(const std::filesystem::path &journal);

/* The directories that have concealed objects. PLACE/a/b is the object of the name /a/b. */
std::vector<std::filesystem::path> places_of(const std::filesystem::path &journal);

/* The program's name for a path in a place; "" for others. */
std::string revealed_name(const std::string &path);

/* Whether the path is a mark of a visible object that the program has removed. */
bool is_gone(const std::filesystem::path &path);

/* Names of all concealed objects in the place that are not just directories around others,
 * parents first, as the program knows them. */
std::vector<std::string> names_in_place(const std::filesystem::path &place);

/* Forgets which files have several names: copies of them are about to be revealed. */
void forget_links(const std::filesystem::path &place);

/* Removes a place in which no objects are left, and its link in the journal. Objects that
 * are left, by their names. */
std::vector<std::string> remove_place(const std::filesystem::path &journal,
                                      const std::filesystem::path &place);

} // namespace ckpt::journal
