/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_name.hpp - the default name of a job under `ckpt run`.
 *
 * The name is PROGRAM-PID. In a batch job it is PROGRAM-ID with the scheduler's id, so that
 * a requeued batch job finds its checkpoints. If several commands of one batch job would
 * get the same name, the others are PROGRAM-ID.2, PROGRAM-ID.3, ... The identity of the
 * command in the checkpoints distinguishes them; commands that run at the same time also
 * use a lock.
 */
#pragma once

#include "cli/run/scheduler.hpp"
#include "cli/jobs/settings.hpp"
#include "common/fd.hpp"

namespace ckpt::cli
{

/* A variable of the job, kept in its checkpoints: the identity of its command. */
inline constexpr const char *command_variable = "CKPT_RUN_COMMAND";

/* Returns sixteen digits; they differ for commands that differ in any word. */
std::string command_identity(const Words &command);

struct JobName {
    std::string text;
    Fd lock; /* reserves the name for this command while it is held; may be invalid */
};

JobName default_job_name(const Words &command, const Scheduler &scheduler,
                         const TierDirectories &directories);

} // namespace ckpt::cli
