/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * socket_to_rank.c - a Unix socket connected to another rank: the checkpoint is
 * refused, nothing is lost.
 */
#include "probe.h"

#include <sys/socket.h>
#include <sys/un.h>

/* Rank 0 listens; the others connect. */
static int connect_ranks(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    int server = -1;

    strcpy(address.sun_path, "probe.sock");
    if (probe_rank == 0) {
        unlink(address.sun_path);
        CHECK(bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
        CHECK(listen(fd, 1) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (probe_rank != 0) {
        CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
        return fd;
    }
    server = accept(fd, NULL, NULL);
    CHECK(server >= 0 && close(fd) == 0);
    return server;
}

int main(int argc, char **argv)
{
    char byte = 'x';
    int fd;

    probe_begin(argc, argv, 2);
    fd = connect_ranks();
    probe_gate_together();
    if (probe_rank == 0) {
        CHECK(write(fd, "y", 1) == 1);
    } else {
        CHECK(read(fd, &byte, 1) == 1 && byte == 'y');
    }
    close(fd);
    return probe_end();
}
