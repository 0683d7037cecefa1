/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * socket.c - an open socket: the checkpoint is refused, nothing is lost.
 */
#include "probe.h"

#include <sys/socket.h>

int main(int argc, char **argv)
{
    char byte = 'x';
    int ends[2];

    probe_begin(argc, argv, 2);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    probe_gate();
    CHECK(write(ends[0], "y", 1) == 1);
    CHECK(read(ends[1], &byte, 1) == 1 && byte == 'y');
    close(ends[0]);
    close(ends[1]);
    return probe_end();
}
