/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * broken_pipes.c - pipes with one end closed in all processes. A program has
 * such pipes after its children have ended (Python's multiprocessing).
 */
#include "probes/probe.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

/* Returns the read end of a pipe into which a child has written its last
 * bytes. */
static int words_of_child(void)
{
    int ends[2], status = 0;
    pid_t child;

    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        _exit(write(ends[1], "last words", 10) == 10 ? 0 : 1);
    }
    CHECK(close(ends[1]) == 0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    return ends[0];
}

/* Returns the write end of a pipe without readers. */
static int unread(void)
{
    int ends[2];

    CHECK(pipe(ends) == 0);
    CHECK(write(ends[1], "in vain", 7) == 7);
    CHECK(close(ends[0]) == 0);
    return ends[1];
}

int main(int argc, char **argv)
{
    char text[16];
    int heard, said;
    struct pollfd end;

    probe_begin(argc, argv, 2);
    signal(SIGPIPE, SIG_IGN);
    heard = words_of_child();
    said = unread();
    CHECK(read(heard, text, 5) == 5 && memcmp(text, "last ", 5) == 0);
    probe_gate();
    CHECK(read(heard, text, sizeof text) == 5);
    CHECK(memcmp(text, "words", 5) == 0);
    CHECK(read(heard, text, sizeof text) == 0);
    end = (struct pollfd){.fd = said, .events = POLLOUT};
    CHECK(poll(&end, 1, 0) == 1 && (end.revents & POLLERR) != 0);
    CHECK(write(said, text, 1) == -1 && errno == EPIPE);
    return probe_end();
}
