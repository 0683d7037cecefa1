/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipe_between_ranks.c - named and unnamed pipes from rank to rank, with bytes
 * in them; meanwhile one rank waits for the other by these pipes.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

#define MUCH 50000

static int down, up, wake, left, own[2];
static char *much;

/* Makes a pipe in rank 0; rank 1 opens one end through /proc. */
static int share_pipe(int reader)
{
    char path[64];
    int place[2] = {0, 0}, ends[2] = {-1, -1}, fd;

    if (probe_rank == 0) {
        CHECK(pipe(ends) == 0);
        place[0] = (int)getpid();
        place[1] = ends[probe_rank == reader ? 1 : 0];
    }
    MPI_Bcast(place, 2, MPI_INT, 0, MPI_COMM_WORLD);
    fd = ends[probe_rank == reader ? 0 : 1];
    if (probe_rank == 1) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", place[0], place[1]);
        fd = open(path, reader == 1 ? O_RDONLY : O_WRONLY);
        CHECK(fd >= 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(probe_rank == 1 || close(place[1]) == 0);
    return fd;
}

static int share_fifo(const char *name, int reader)
{
    int fd;

    if (probe_rank == 0) {
        unlink(name);
        CHECK(mkfifo(name, 0640) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    fd = open(name, probe_rank == reader ? O_RDONLY : O_WRONLY);
    CHECK(fd >= 0);
    return fd;
}

static void say(int fd, const void *bytes, size_t size)
{
    CHECK(write(fd, bytes, size) == (ssize_t)size);
}

static void hear(int fd, const char *bytes, size_t size)
{
    char *got = malloc(size);

    for (size_t done = 0; done < size;) {
        ssize_t result = read(fd, got + done, size - done);

        CHECK(result > 0);
        done += (size_t)result;
    }
    CHECK(memcmp(got, bytes, size) == 0);
    free(got);
}

static void make_pipes(void)
{
    char name[] = "probe.?";

    much = malloc(MUCH);
    for (int i = 0; i < MUCH; i++) {
        much[i] = (char)(i * 7 + i / 256);
    }
    down = share_pipe(1);
    up = share_fifo("probe.up", 0);
    wake = share_fifo("probe.wake", 1);
    left = share_pipe(0);
    CHECK(fcntl(down, F_SETPIPE_SZ, 1 << 17) >= MUCH);
    if (probe_rank == 0) {
        say(down, much, MUCH);
    } else {
        say(up, much, MUCH);
        say(left, "testament", 9);
        close(left); /* only its reader is left */
    }
    name[6] = (char)('0' + probe_rank);
    unlink(name);
    CHECK(mkfifo(name, 0600) == 0);
    own[0] = open(name, O_RDWR);
    own[1] = open(name, O_WRONLY);
    say(own[1], "own", 3);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 1 waits in poll() and read(). */
static void wait_for_each_other(void)
{
    struct pollfd file = {wake, POLLIN, 0};

    if (probe_rank == 0) {
        probe_gate();
        say(wake, "go on", 5);
    } else {
        CHECK(poll(&file, 1, 600000) == 1 && file.revents == POLLIN);
        hear(wake, "go on", 5);
    }
}

static void check_pipes(void)
{
    struct stat status;
    char byte;

    CHECK(stat("probe.up", &status) == 0 && (status.st_mode & 0777) == 0640);
    hear(own[0], "own", 3);
    if (probe_rank == 0) {
        hear(up, much, MUCH);
        hear(left, "testament", 9);
        CHECK(read(left, &byte, 1) == 0);
        say(down, "more", 4);
        CHECK(close(down) == 0);
    } else {
        CHECK(fcntl(down, F_GETPIPE_SZ) == 1 << 17);
        hear(down, much, MUCH);
        hear(down, "more", 4);
        CHECK(read(down, &byte, 1) == 0);
    }
}

int main(int argc, char **argv)
{
    probe_begin(argc, argv, 2);
    make_pipes();
    wait_for_each_other();
    check_pipes();
    return probe_end();
}
