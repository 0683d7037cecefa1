/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_process.hpp - start a launcher: instead of this process, or below it.
 */
#pragma once

#include "cli/run_line.hpp"
#include "common/fd.hpp"

#include <functional>
#include <optional>

#include <signal.h>
#include <sys/types.h>

namespace ckpt::cli
{

/* Becomes the command. Returns only by throwing Error. */
[[noreturn]] void become(const Invocation &invocation);

/* A launcher below this process. Not for programs with several threads. */
class LauncherProcess
{
  public:
    /* mask: of signals, for the command. note: is told of the process before that becomes the
     * command, which it does not if this process ends meanwhile. Throws Error if there can be no
     * process, or what `note` throws; a command that cannot be started ends with 127. */
    LauncherProcess(const Invocation &invocation, const sigset_t &mask,
                    const std::function<void(pid_t)> &note);

    pid_t pid() const { return pid_; }
    /* Readable when it has ended. */
    int descriptor() const { return process_.get(); }
    /* As a shell gives it, 128 + signal; nothing while it runs. */
    std::optional<int> exit_code();
    /* The signal by which it has stopped, once, if it is stopped now. */
    std::optional<int> stop_signal() const;
    void signal(int number) const;

  private:
    void give_up() const;

    pid_t pid_;
    Fd process_;
};

} // namespace ckpt::cli
