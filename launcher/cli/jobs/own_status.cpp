/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own_status.cpp - builds a status from the newest checkpoint of a job.
 */
#include "cli/jobs/own_status.hpp"

#include "common/host.hpp"
#include "common/invariant.hpp"

#include "ckpt/wire.h"

#include <unistd.h>

namespace ckpt::cli
{

namespace
{

void tell(control::Status &status, const Checkpoint &checkpoint)
{
    CKPT_EXPECT(checkpoint.manifest);
    const Manifest &manifest = *checkpoint.manifest;

    status.rank_count = manifest.rank_count;
    status.application =
        manifest.launch.application.empty() ? "" : manifest.launch.application.front();
    status.protocol = manifest.protocol;
    status.snapshot = manifest.snapshot;
    status.codec = manifest.codec;
    status.last.job = status.job;
    status.last.name = checkpoint.name();
    status.last.number = checkpoint.number;
    status.last.path = checkpoint.directory;
    status.last.bytes = manifest.bytes();
    status.last_at = static_cast<double>(manifest.created) * 1e-9;
    if (manifest.launch.launcher.empty()) {
        status.launch_namespace = CKPT_LAUNCH_ALONE;
    }
}

control::Status own_status(const TierDirectories &directories, const std::string &job,
                           const std::string &phase)
{
    control::Status status;

    status.job = job;
    status.directory = directories.fast;
    status.slow_directory = directories.slow;
    status.identities = directories.identities();
    status.host = host_name();
    status.phase = phase;
    status.launcher_pid = getpid();
    if (const auto tiers = Tiers::open(directories)) {
        if (const auto newest = tiers->newest_committed(job)) {
            tell(status, *newest);
        }
    }
    /* Makes the name unique among all jobs. */
    status.launch_namespace += phase + "-" + (directories.lasting() / job).string();
    return status;
}

} // namespace

control::Status swapped_out_status(const TierDirectories &directories, const std::string &job,
                                   double since)
{
    control::Status status = own_status(directories, job, control::swapped_out);

    status.started = since;
    return status;
}

control::Status starting_status(const TierDirectories &directories, const std::string &job)
{
    return own_status(directories, job, control::starting);
}

bool is_swapped_out(const control::Status &status)
{
    return status.phase == control::swapped_out;
}

} // namespace ckpt::cli
