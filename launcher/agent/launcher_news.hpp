/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher_news.hpp - what the job's launcher tells by way of PMIx (docs/pmix.md): a
 * second opinion, which is logged beside our own.
 *
 * Normal context; not for several threads.
 */
#pragma once

#include <chrono>
#include <map>
#include <string>

namespace ckpt
{

class LauncherNews
{
  public:
    using Time = std::chrono::steady_clock::time_point;

    /* Rank 0 has asked this PMIx to be told of requests and ends. code: its answer. */
    void registered(const std::string &version, int code);
    /* It has declared that its job can be saved. code: the server's answer. */
    void declared(int code);
    /* PMIx says that a process has ended, and how. */
    void ended(int rank, int code, Time now);
    /* We know it ourselves. */
    void gone(int rank, Time now);

    /* The PMIx through which requests for checkpoints are heard; or empty. */
    const std::string &version() const { return version_; }

  private:
    std::string version_;
    std::map<int, Time> told_; /* by rank: when PMIx has */
    std::map<int, Time> known_;
};

} // namespace ckpt
