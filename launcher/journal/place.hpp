/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * place.hpp - where the file journal of a job is.
 */
#pragma once

#include <filesystem>

namespace ckpt::journal
{

/* In the directory of a job. */
std::filesystem::path directory_in(const std::filesystem::path &job_directory);

/* Makes the journal's directory there, if need be, for processes to write into; returns
 * it. job_directory: absolute. Throws Error. */
std::filesystem::path provide_in(const std::filesystem::path &job_directory);

} // namespace ckpt::journal
