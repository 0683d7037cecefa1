/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * output_revealer.hpp - reveals concealed outputs of a job when its checkpoints commit.
 */
#pragma once

#include "image/store/tiers.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace ckpt::cli
{

/*
 * Runs in its own thread, because revealing may copy large outputs, and the event loop must
 * respond meanwhile. Exists during a launch of the job. Only checkpoints in the lasting
 * directory count, because outputs that others have seen cannot be revoked.
 */
class OutputRevealer
{
  public:
    /* The checkpoints that exist now are revealed already: the restart did it. Nothing more is
     * revealed until the launch commits another one, which shows that its ranks have opened their
     * files again. restarted_from: mark in the journal of the checkpoint that is restarted; 0: the
     * job starts from the beginning. */
    OutputRevealer(TierDirectories directories, std::string job, std::uint64_t restarted_from);
    ~OutputRevealer();

  private:
    void run();
    void reveal_newest();
    void say(const std::string &warning);

    const TierDirectories directories_;
    const std::string job_;
    std::uint64_t revealed_; /* mark in the journal */
    std::set<std::string> said_;
    std::mutex mutex_;
    std::condition_variable wakes_;
    bool ends_ = false;  /* guarded by mutex_ */
    std::thread thread_; /* last: the thread uses the members above */
};

/* Reveals all outputs, when no process of the job is alive and the job will not continue.
 * Prints errors. */
void reveal_all_outputs(const TierDirectories &directories, const std::string &job);

/* Reveals the outputs that the job's newest checkpoint commits, after the job has ended but
 * can continue from it. Prints a notice if more outputs remain concealed. */
void reveal_committed_outputs(const TierDirectories &directories, const std::string &job);

} // namespace ckpt::cli
