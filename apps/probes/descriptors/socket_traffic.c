/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * socket_traffic.c - threads of two ranks exchange numbers by sockets all the time, also during a
 * checkpoint: none is lost or duplicated.
 */
#include "probes/probe.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>

#define BLOCK 512

static atomic_int is_open; /* the gate */

static void send_block(int fd, const uint64_t *block)
{
    const char *at = (const char *)block;
    size_t left = BLOCK * sizeof *block;

    while (left > 0) {
        ssize_t done = send(fd, at, left, MSG_NOSIGNAL);

        CHECK(done > 0);
        at += done;
        left -= (size_t)done;
    }
}

/* The ranks send blocks to each other by turns; rank 0's last block ends with 0. */
static void *exchange(void *argument)
{
    const int fd = *(int *)argument;
    uint64_t mine[BLOCK], theirs[BLOCK], next = 1;
    int last = 0;

    while (!last) {
        for (int i = 0; i < BLOCK; i++) {
            mine[i] = next + (uint64_t)i;
        }
        if (probe_rank == 0 && is_open) {
            mine[BLOCK - 1] = 0;
            last = 1;
        }
        send_block(fd, mine);
        CHECK(recv(fd, theirs, sizeof theirs, MSG_WAITALL) == sizeof theirs);
        if (probe_rank == 1 && theirs[BLOCK - 1] == 0) {
            theirs[BLOCK - 1] = mine[BLOCK - 1];
            last = 1;
        }
        for (int i = 0; i < BLOCK; i++) {
            CHECK(theirs[i] == next + (uint64_t)i);
        }
        next += BLOCK;
        usleep(100);
    }
    return NULL;
}

/* Rank 0 listens, rank 1 connects. */
static int connect_ranks(int domain, void *name, socklen_t size)
{
    int fd = socket(domain, SOCK_STREAM, 0), server = -1;

    if (probe_rank == 0) {
        CHECK(bind(fd, name, size) == 0 && listen(fd, 1) == 0);
        CHECK(getsockname(fd, name, &size) == 0);
    }
    MPI_Bcast(name, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (probe_rank == 1) {
        CHECK(connect(fd, name, size) == 0);
        return fd;
    }
    server = accept(fd, NULL, NULL);
    CHECK(server >= 0 && close(fd) == 0);
    return server;
}

int main(int argc, char **argv)
{
    struct sockaddr_in inet = {.sin_family = AF_INET};
    struct sockaddr_un local = {AF_UNIX, "probe.sock"};
    pthread_t threads[2];
    int fds[2];

    probe_begin(argc, argv, 2);
    unlink(local.sun_path);
    MPI_Barrier(MPI_COMM_WORLD);
    inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fds[0] = connect_ranks(AF_INET, &inet, sizeof inet);
    fds[1] = connect_ranks(AF_UNIX, &local, sizeof local);
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, exchange, &fds[i]) == 0);
    }
    probe_gate();
    is_open = 1;
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    return probe_end();
}
