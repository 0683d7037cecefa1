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

/* What a command prints, for a shell; "" if it cannot be started. */
std::string output_of(const std::string &command);

/* The value behind NAME= in what `scontrol show job` tells of a job; "" if there is none. */
std::string slurm_job_fact(const std::string &id, const std::string &name);

/* The same, of its text. */
std::string fact_in(const std::string &text, const std::string &name);

} // namespace ckpt::cli
