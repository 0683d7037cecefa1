/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * place.cpp - the location of a job's file journal.
 */
#include "journal/place.hpp"

#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "image/store/job_directory.hpp"

namespace ckpt::journal
{

namespace fs = std::filesystem;

fs::path directory_in(const fs::path &job_directory)
{
    CKPT_EXPECT(!job_directory.empty()); /* else it would be in the working directory */
    return job_directory / "journal";
}

fs::path provide_in(const fs::path &job_directory)
{
    const fs::path journal = directory_in(job_directory);

    make_job_directory(job_directory);
    make_private_directory(journal / "kept");
    return journal;
}

} // namespace ckpt::journal
