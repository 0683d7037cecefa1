/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * metrics_file.hpp - keeps a file with the metrics of the agent's job up to date, for the textfile
 * collector of Prometheus' node_exporter.
 *
 * A thread replaces the whole file, at each milestone of the job and every few seconds between
 * them. So a file system that hangs does not delay the agent. The first error is logged.
 */
#pragma once

#include "agent/control/control.hpp"
#include "agent/messages/milestones.hpp"
#include "agent/base/worker_thread.hpp"

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

    /* pattern: path of the file; %h stands for the host and %j for the job. */
    explicit MetricsFile(std::string pattern);

    /* Writes the result of `status` if the file is due. */
    void update(Time now, const Milestones &reached,
                const std::function<control::Status()> &status);
    /* Writes the final state, and returns when it is written. */
    void end(const control::Status &status);

    /* Latest time for the next call of update(). */
    Time next_tick(Time now) const;

  private:
    void write(const control::Status &status);

    const std::string pattern_;
    Milestones told_;
    Time due_{};
    bool has_warned_ = false; /* used by the writer's thread only */
    WorkerThread writer_;     /* last, so that its work ends before other members are destroyed */
};

/* Returns the path of the file for this job. */
std::filesystem::path metrics_path(const std::string &pattern, const std::string &host,
                                   const std::string &job);

} // namespace ckpt
