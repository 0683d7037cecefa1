/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_with_rank.c - unlinked POSIX shared memory of two ranks.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <fcntl.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
    volatile int *memory;
    char name[64];
    int number = (int)getpid();
    int fd;

    probe_begin(argc, argv, 2);
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "/ckpt-probe-%d", number);
    fd = shm_open(name, O_CREAT | O_RDWR, 0600);
    CHECK(fd >= 0 && ftruncate(fd, 4096) == 0);
    memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(memory != MAP_FAILED && close(fd) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (probe_rank == 0) {
        CHECK(shm_unlink(name) == 0);
    }
    memory[probe_rank + 2] = 10 + probe_rank;
    probe_gate_together();
    CHECK(memory[2] == 10 && memory[3] == 11);
    memory[probe_rank] = 5 + probe_rank;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(memory[0] == 5 && memory[1] == 6);
    return probe_end();
}
