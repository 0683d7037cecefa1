/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * output_revealer.hpp - reveals concealed outputs of a job when its checkpoints commit.
 */
#pragma once

#include "image/tiers.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace ckpt::cli
{

/*
 * A thread of its own, as revealing may take as long as copying the outputs, and the event
 * loop has to answer meanwhile. It lives while a launch of the job does. Only checkpoints
 * that outlive the nodes count: what others have seen cannot be taken back.
 */
class OutputRevealer
{
  public:
    OutputRevealer(TierDirectories directories, std::string job);
    ~OutputRevealer();

  private:
    void run();
    void reveal_newest();
    void say(const std::string &warning);

    const TierDirectories directories_;
    const std::string job_;
    std::uint64_t revealed_ = 0; /* mark */
    std::set<std::string> said_;
    std::mutex mutex_;
    std::condition_variable wakes_;
    bool ends_ = false; /* guarded by mutex_ */
    std::thread thread_; /* the last member: it uses the others */
};

/* When no process of the job is alive and it will not go on: reveals all. Says what went
 * wrong. */
void reveal_all_outputs(const TierDirectories &directories, const std::string &job);

/* The job has ended, but can go on from its newest checkpoint: reveals what that commits, and
 * says that more is concealed. */
void reveal_committed_outputs(const TierDirectories &directories, const std::string &job);

} // namespace ckpt::cli
