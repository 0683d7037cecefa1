/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ckpt_stdin_main.cpp - the relay of a rank's standard input. The rank starts it; users do
 * not. Its descriptors are those in ckpt/input.h.
 */
#include "config.h"

#include "common/error.hpp"
#include "input/relay.hpp"

#include <csignal>
#include <cstdio>
#include <exception>

#include <fcntl.h>

int main()
{
    if (::fcntl(CKPT_RELAY_PAGE, F_GETFD) < 0) {
        fmt::print(stderr, "{}: started by the ranks of a job, not by a user\n",
                   CKPT_RELAY_PROGRAM);
        return 2;
    }
    /* These signals are meant for the program; the relay ends when the program has
     * ended. */
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU,
                       SIGUSR1, SIGUSR2}) {
        std::signal(signal, SIG_IGN);
    }
    try {
        ckpt::input::Relay relay(ckpt::Fd(CKPT_RELAY_SOURCE), ckpt::Fd(CKPT_RELAY_SINK),
                                 ckpt::Fd(CKPT_RELAY_PAGE));
        relay.run();
    } catch (const std::exception &) {
        return 1; /* the error cannot be reported; the program sees the end of its input */
    }
    return 0;
}
