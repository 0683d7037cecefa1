/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scheduler.hpp - the batch system that has started this process, if any.
 */
#pragma once

#include <string>

namespace ckpt::cli
{

struct Scheduler {
    std::string name; /* "Slurm", "PBS", "Flux"; "": none */
    /* The scheduler's id of the job, as a valid part of a job's name. It stays the same when
     * the job is requeued. */
    std::string job;
    unsigned restarts = 0;       /* how often the job was requeued, as far as known */
    std::string requeue_command; /* shell command that requeues the job; "": none */
};

/* Detects the scheduler from the variables of this process. */
Scheduler current_scheduler();

/* Whether the scheduler preempts the job in favour of another one, as far as that is
 * known. */
bool is_preempted(const Scheduler &scheduler);

/* Returns the output of a shell command; "" if it cannot be started. */
std::string output_of(const std::string &command);

/* Returns the value of NAME= in the output of `scontrol show job`; "" if it has none. */
std::string slurm_job_fact(const std::string &id, const std::string &name);

/* The same, from the given text. */
std::string fact_in(const std::string &text, const std::string &name);

} // namespace ckpt::cli
