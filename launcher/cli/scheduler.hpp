/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scheduler.hpp - the batch system that has started this process, if any.
 */
#pragma once

#include <string>

namespace ckpt::cli
{

struct Scheduler {
    std::string name; /* "Slurm", "PBS", "Flux"; "": there is none */
    /* What it calls the job, as a part of a job's name. It stays the same when the job is
     * put back into the queue. */
    std::string job;
    unsigned restarts = 0;       /* how often that was done, as far as it tells */
    std::string requeue_command; /* that asks for it, for a shell; "": there is none */
};

/* As the variables of this process tell. */
Scheduler current_scheduler();

/* True if the job is to make room for another one, as far as the scheduler can be asked. */
bool is_preempted(const Scheduler &scheduler);

/* The same, of what `scontrol show job` prints. */
bool tells_preemption(const std::string &text);

} // namespace ckpt::cli
