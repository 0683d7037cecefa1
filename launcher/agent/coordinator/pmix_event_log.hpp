/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_event_log.hpp - reports of the job's launcher through PMIx (docs/pmix.md). They are logged
 * for comparison with the agent's own observations.
 *
 * Normal context; not thread-safe.
 */
#pragma once

#include <chrono>
#include <map>
#include <string>

namespace ckpt
{

class PmixEventLog
{
  public:
    using Time = std::chrono::steady_clock::time_point;

    /* Rank 0 has registered with this PMIx for requests and for ends of processes. code: status
     * from PMIx. */
    void registered(const std::string &version, int code);
    /* Rank 0 has declared that its job can be saved. code: status from the server. */
    void declared(int code);
    /* PMIx reports that a process has ended, and how. */
    void ended(int rank, int code, Time now);
    /* The agent itself has seen the rank's end. */
    void exited(int rank, Time now);

    /* Version of the PMIx through which requests for checkpoints come; or empty. */
    const std::string &version() const { return version_; }

  private:
    std::string version_;
    std::map<int, Time> told_; /* by rank: when PMIx reported the end */
    std::map<int, Time> known_;
};

} // namespace ckpt
