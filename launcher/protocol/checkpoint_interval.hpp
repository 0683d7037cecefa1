/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint_interval.hpp - how long a job computes between two checkpoints: as long as
 * the user says, or so long that checkpoints and the work that failures undo cost
 * least together (Young 1974; Daly 2006).
 */
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace ckpt
{

/* A job so far: all of its launches. */
struct JobHistory {
    double seconds = 0; /* for which it has run */
    unsigned failures = 0;
};

/*
 * The mean time between failures, in seconds, of which the history is one
 * observation: that of a job which, before it began, ran for a day and then failed.
 */
double observed_mtbf(const JobHistory &history);

/*
 * The interval, in seconds, between the end of a checkpoint and the beginning of the next
 * one, for which a job ends soonest. `cost`: how much later it ends for
 * each checkpoint; above 0. `mtbf`: above 0. By J. T. Daly, A higher order estimate of the
 * optimum checkpoint interval for restart dumps, FGCS 22 (2006).
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

    /* Seconds. The first two need not be called: then mtbf is that of a new job. */
    void give_mtbf(double mtbf) { given_mtbf_ = mtbf; }
    void observe(const JobHistory &history) { history_ = history; }

    /* What a checkpoint has cost the program, in seconds. */
    void learn(double cost);

    /* From the end of a checkpoint, or the beginning of the job, to the next one. */
    Duration value() const;

    double mtbf() const; /* seconds */
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
