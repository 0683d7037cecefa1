/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_locks.c - locks by flock() and fcntl() that exclude the other rank.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

static int open_file(const char *name, int rank)
{
    char path[64];
    int fd;

    snprintf(path, sizeof path, "%s.%d", name, rank);
    fd = open(path, O_CREAT | O_RDWR, 0600);
    CHECK(fd >= 0);
    return fd;
}

static int set_lock(int fd, int command, short type, off_t start, off_t size)
{
    struct flock lock = {.l_type = type, .l_start = start, .l_len = size};

    return fcntl(fd, command, &lock);
}

int main(int argc, char **argv)
{
    int whole, ranges, of_file, other, fd;

    probe_begin(argc, argv, 2);
    other = 1 - probe_rank;
    whole = open_file("whole", probe_rank);
    ranges = open_file("ranges", probe_rank);
    of_file = open_file("of_file", probe_rank);
    CHECK(flock(whole, LOCK_EX) == 0);
    CHECK(set_lock(ranges, F_SETLK, F_WRLCK, 10, 5) == 0);
    CHECK(set_lock(ranges, F_SETLK, F_RDLCK, 100, 0) == 0);
    CHECK(set_lock(of_file, F_OFD_SETLK, F_WRLCK, 0, 0) == 0);
    probe_gate_together();
    fd = open_file("whole", other);
    CHECK(flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK);
    fd = open_file("ranges", other);
    CHECK(set_lock(fd, F_SETLK, F_RDLCK, 14, 1) < 0);
    CHECK(set_lock(fd, F_SETLK, F_WRLCK, 15, 85) == 0);
    CHECK(set_lock(fd, F_SETLK, F_RDLCK, 1000, 1) == 0);
    CHECK(set_lock(fd, F_SETLK, F_WRLCK, 1000, 1) < 0);
    fd = open_file("of_file", other);
    CHECK(set_lock(fd, F_OFD_SETLK, F_RDLCK, 0, 0) < 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(set_lock(of_file, F_OFD_SETLK, F_UNLCK, 0, 0) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(set_lock(fd, F_OFD_SETLK, F_RDLCK, 0, 0) == 0);
    return probe_end();
}
