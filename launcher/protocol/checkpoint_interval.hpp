/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint_interval.hpp - how long a job computes between two checkpoints. The user sets this
 * time, or the job minimises the total cost of checkpoints and of the work that failures undo
 * (Young 1974; Daly 2006).
 */
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace ckpt
{

/* All launches of a job so far. */
struct JobHistory {
    double seconds = 0; /* run time */
    unsigned failures = 0;
};

/*
 * Returns the mean time between failures, in seconds. It adds to the history an assumed run of one
 * day that ended in a failure.
 */
double observed_mtbf(const JobHistory &history);

/*
 * Returns the interval that minimises the job's run time: the seconds from the end of a checkpoint
 * to the beginning of the next. `cost`: seconds by which each checkpoint delays the job's end;
 * above 0. `mtbf`: seconds; above 0. By J. T. Daly, A higher order estimate of the optimum
 * checkpoint interval for restart dumps, FGCS 22 (2006).
 */
double optimal_interval(double cost, double mtbf);

class CheckpointInterval
{
  public:
    using Duration = std::chrono::duration<double>;

    /* "0" for no periodic checkpoints, a duration (common/durations.hpp) or
     * "auto". Throws Error for anything else. */
    static CheckpointInterval parse(std::string_view text);

    bool is_periodic() const;
    bool is_automatic() const { return automatic_; }

    /* In seconds. Both calls are optional: the default is the mtbf of a new job. */
    void give_mtbf(double mtbf) { given_mtbf_ = mtbf; }
    void observe(const JobHistory &history) { history_ = history; }

    /* Takes the measured cost of a checkpoint, in seconds. */
    void learn(double cost);

    /* Time from the end of a checkpoint, or the beginning of the job, to the next checkpoint. */
    Duration value() const;

    double mtbf() const;                                 /* seconds */
    std::optional<double> cost() const { return cost_; } /* seconds */
    bool mtbf_is_given() const { return given_mtbf_ > 0; }

  private:
    bool automatic_ = false;
    Duration fixed_{0};
    double given_mtbf_ = 0;
    JobHistory history_;
    std::optional<double> cost_; /* of a checkpoint, measured */
};

} // namespace ckpt
