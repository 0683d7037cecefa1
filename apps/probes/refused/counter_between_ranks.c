/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counter_between_ranks.c - an event counter that two ranks have open: the
 * checkpoint is refused, and nothing is lost.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>

/* Rank 0 makes the counter; rank 1 gets the descriptor from rank 0. */
static int share_counter(void)
{
    int fd = probe_rank == 0 ? eventfd(0, 0) : -1;
    int place[2] = {(int)getpid(), fd};

    CHECK(prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0) == 0 || fd < 0 ||
          geteuid() == 0);
    MPI_Bcast(place, 2, MPI_INT, 0, MPI_COMM_WORLD);
    if (probe_rank == 1) {
        int process = pidfd_open(place[0], 0);

        fd = pidfd_getfd(process, place[1], 0);
        CHECK(fd >= 0 && close(process) == 0);
    }
    return fd;
}

int main(int argc, char **argv)
{
    eventfd_t count = 0;
    int fd;

    probe_begin(argc, argv, 2);
    fd = share_counter();
    probe_gate_together();
    if (probe_rank == 0) {
        CHECK(eventfd_write(fd, 7) == 0);
    } else {
        CHECK(eventfd_read(fd, &count) == 0 && count == 7);
    }
    close(fd);
    return probe_end();
}
