/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * child_process.hpp - a child of this process: a rank, or the server of the world.
 */
#pragma once

#include "common/fd.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/types.h>

namespace ckpt::launch
{

/* How a child begins. */
struct ChildStart {
    std::vector<std::string> program; /* argv; the first word is looked up in PATH */
    std::vector<std::string> environment;
    std::filesystem::path directory;  /* empty: that of this process */
    sigset_t mask;                    /* blocked signals */
    int input = -1;                   /* its standard input; -1: /dev/null */
    std::vector<int> processors = {}; /* on which it may run; empty: as this process */
    int endpoint = -1;                /* another descriptor that it inherits; -1: none */
};

class ChildProcess
{
  public:
    /*
     * Starts the child in a new process group. It inherits standard output and error, the
     * endpoint, and no other descriptor. Returns when the program is being executed. Throws Error
     * if it cannot be. Only for a process with one thread.
     */
    explicit ChildProcess(const ChildStart &start);

    pid_t pid() const { return pid_; }
    /* Readable when the process has ended. */
    int descriptor() const { return process_.get(); }
    /* Reaps the process if it has ended, and returns its status (wait(2)). After that, signal()
     * must not be called. */
    std::optional<int> take_status();
    /* The same, but waits for the end; sends SIGKILL after a while (ms). */
    int await_status(int timeout);
    /* Sends the signal to the process and to its children in its group. */
    void signal(int number) const;

  private:
    pid_t pid_ = 0;
    Fd process_;
    std::optional<int> status_; /* of the reaped process */
};

} // namespace ckpt::launch
