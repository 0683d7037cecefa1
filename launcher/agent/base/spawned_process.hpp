/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spawned_process.hpp - a child of a process with several threads (posix_spawn(3)).
 */
#pragma once

#include "common/fd.hpp"

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace ckpt
{

class SpawnedProcess
{
  public:
    /*
     * Executes command[0], a path, with descriptors[i] as its descriptor i (-1: the descriptor i of
     * this process), and no other descriptor that is close-on-exec. The child has its own process
     * group and the default signal mask. Throws Error.
     */
    SpawnedProcess(const std::vector<std::string> &command,
                   const std::vector<std::string> &environment,
                   const std::vector<int> &descriptors);

    pid_t pid() const { return pid_; }
    /* Readable when the process has ended. */
    int descriptor() const { return process_.get(); }
    /* Reaps the process if it has ended, and returns its status (wait(2)). Call it no more after
     * that. */
    std::optional<int> take_status();
    void signal(int number) const;

  private:
    pid_t pid_ = 0;
    Fd process_;
};

} // namespace ckpt
