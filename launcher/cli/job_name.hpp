/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_name.hpp - what `ckpt run` calls a job that the user has not named.
 *
 * PROGRAM-PID; in a batch job PROGRAM-ID, with the scheduler's id, so that the job is found
 * again when the batch job has been put back into the queue. If several commands of one
 * batch job would have the same name the others are PROGRAM-ID.2, PROGRAM-ID.3, ... Their
 * checkpoints tell them apart, as these have the command's identity, and of those that run
 * at the same time a lock.
 */
#pragma once

#include "cli/scheduler.hpp"
#include "cli/settings.hpp"
#include "common/fd.hpp"

namespace ckpt::cli
{

/* Variable of a job, kept in its checkpoints: the identity of its command. */
inline constexpr const char *command_variable = "CKPT_RUN_COMMAND";

/* Sixteen digits; different for commands that differ in a word. */
std::string command_identity(const Words &command);

struct JobName {
    std::string text;
    Fd lock; /* as long as it is there no other command takes the name; or none is needed */
};

JobName default_job_name(const Words &command, const Scheduler &scheduler,
                         const TierDirectories &directories);

} // namespace ckpt::cli
