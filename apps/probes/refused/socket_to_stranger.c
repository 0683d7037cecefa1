/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * socket_to_stranger.c - a Unix socket connected to a process that is not a
 * rank: the checkpoint is refused, and nothing is lost.
 */
#include "probes/probe.h"

#include <sys/socket.h>
#include <sys/wait.h>

/* Sends back all received bytes, until the rank ends. */
static void echo(int fd)
{
    char byte;

    while (read(fd, &byte, 1) == 1 && write(fd, &byte, 1) == 1) {
    }
    _exit(0);
}

/* Starts a detached process with the other end. */
static int connect_stranger(void)
{
    int ends[2], status;
    pid_t child;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    child = fork();
    if (child == 0) {
        close(ends[0]);
        if (fork() == 0) {
            echo(ends[1]);
        }
        _exit(0);
    }
    close(ends[1]);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    return ends[0];
}

int main(int argc, char **argv)
{
    char byte = 'x';
    int fd;

    probe_begin(argc, argv, 2);
    fd = connect_stranger();
    probe_gate_together();
    CHECK(write(fd, "y", 1) == 1);
    CHECK(read(fd, &byte, 1) == 1 && byte == 'y');
    close(fd);
    return probe_end();
}
