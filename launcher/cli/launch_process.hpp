/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_process.hpp - start a launcher: instead of this process, or below it.
 */
#pragma once

#include "cli/run_line.hpp"

namespace ckpt::cli
{

class LastCheckpoint;

/* Becomes the command. Returns only by throwing Error. */
[[noreturn]] void become(const Invocation &invocation);

struct Ending {
    int exit_code = 0;    /* as a shell gives it: 128 + signal */
    bool by_user = false; /* somebody asked for the end */
};

/*
 * Runs the command and waits for its end. SIGINT, SIGTERM, SIGHUP, SIGQUIT,
 * SIGUSR1 and SIGUSR2 that come meanwhile are sent on to it, unless they come
 * from the terminal, which has sent them to it as well. Throws Error if it
 * cannot be started. Not for programs with several threads.
 * last: takes the signals that announce the end.
 */
Ending run_and_wait(const Invocation &invocation, LastCheckpoint *last = nullptr);

} // namespace ckpt::cli
