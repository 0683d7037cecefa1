/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * place.hpp - the location of a job's file journal.
 */
#pragma once

#include <filesystem>

namespace ckpt::journal
{

/* Returns the journal's directory in the directory of a job. */
std::filesystem::path directory_in(const std::filesystem::path &job_directory);

/* Creates the journal's directory if needed, for processes to write into; returns it.
 * job_directory: absolute. Throws Error. */
std::filesystem::path provide_in(const std::filesystem::path &job_directory);

} // namespace ckpt::journal
