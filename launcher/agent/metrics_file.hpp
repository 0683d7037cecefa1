/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * metrics_file.hpp - keeps a file with the metrics of the agent's job up to date, for the
 * textfile collector of Prometheus' node_exporter.
 *
 * It is replaced as a whole, at each milestone of the job and every few seconds between
 * them. Written beside all else, so that a file system that hangs holds up nothing; what
 * cannot be written is warned of once.
 */
#pragma once

#include "agent/control.hpp"
#include "agent/milestones.hpp"
#include "agent/worker_thread.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

namespace ckpt
{

class MetricsFile
{
  public:
    using Time = std::chrono::steady_clock::time_point;

    /* pattern: its path, in which %h stands for the host and %j for the job. */
    explicit MetricsFile(std::string pattern);

    /* Writes what `status` tells, if it is time. */
    void update(Time now, const Milestones &reached,
                const std::function<control::Status()> &status);
    /* The last words; returns when they are written. */
    void end(const control::Status &status);

    /* When update() is to be called at the latest. */
    Time next_tick(Time now) const;

  private:
    void write(const control::Status &status);

    const std::string pattern_;
    Milestones told_;
    Time due_{};
    bool has_warned_ = false; /* the writer's own */
    WorkerThread writer_; /* last: its work ends before all else does */
};

/* The path of the file for this job. */
std::filesystem::path metrics_path(const std::string &pattern, const std::string &host,
                                   const std::string &job);

} // namespace ckpt
