/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_process.hpp - starts a launcher, in place of this process or as its child.
 */
#pragma once

#include "cli/run/run_line.hpp"
#include "common/fd.hpp"

#include <functional>
#include <optional>

#include <signal.h>
#include <sys/types.h>

namespace ckpt::cli
{

/* Executes the command in this process. Returns only by throwing Error. */
[[noreturn]] void become(const Invocation &invocation);

/* A launcher that is a child of this process. Not for programs with several threads. */
class LauncherProcess
{
  public:
    /* mask: signal mask of the command. note: called with the process id before the process
     * executes the command. If this process ends before, the command never starts. Throws Error
     * if the process cannot be created, or the error of `note`. If the command cannot be
     * executed, the process exits with 127. */
    LauncherProcess(const Invocation &invocation, const sigset_t &mask,
                    const std::function<void(pid_t)> &note);

    pid_t pid() const { return pid_; }
    /* A pidfd, readable when the launcher has ended. */
    int descriptor() const { return process_.get(); }
    /* Returns the exit code in the form of a shell, 128 + signal for signals; nothing while it
     * runs. */
    std::optional<int> exit_code();
    /* Returns the signal that stopped the launcher, once per stop; nothing if it is not
     * stopped. */
    std::optional<int> stop_signal() const;
    void signal(int number) const;

  private:
    void give_up() const;

    pid_t pid_;
    Fd process_;
};

} // namespace ckpt::cli
