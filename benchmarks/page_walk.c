/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_walk.c MEBIBYTES - ranks that fill their memory once, and then check one page of it in each
 * step: 50 MiB further each time, so that each step needs memory that was not touched lately. An
 * allreduce and a pause of a millisecond follow. Runs until it is killed.
 */
#include "selfcheck.h"

#include <stdlib.h>
#include <unistd.h>

#define PAGE   4096u
#define STRIDE (UINT64_C(50) << 20)

int main(int argc, char **argv)
{
    const uint64_t size = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1) << 20;
    unsigned char *memory = malloc(size);
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(memory != NULL);
    for (uint64_t at = 0; at < size; at += PAGE) {
        fill(memory + at, PAGE, mix4((uint64_t)rank, at, 0, 31));
    }
    for (uint64_t step = 1;; step++) {
        const uint64_t at = step * (STRIDE + PAGE) % size / PAGE * PAGE;
        uint64_t word = step, sum = 0;

        CHECK(is_filled(memory + at, PAGE, mix4((uint64_t)rank, at, 0, 31)));
        MPI_Allreduce(&word, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0) {
            printf("step %" PRIu64 "\n", step);
            fflush(stdout);
        }
        usleep(1000);
    }
}
