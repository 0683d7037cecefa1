/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * partitioned_freed.c - partitioned transfers on communicators that are made and freed: they must
 * leave no memory behind.
 */
#include "probes/probe.h"

#define ROUNDS 2000

/* Transfers on a communicator of this rank alone. */
static void make_and_free(int tags)
{
    MPI_Request requests[2];
    MPI_Comm comm;
    int value = 0;

    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    for (int tag = 0; tag < tags; tag++) {
        MPI_Psend_init(&value, 1, 1, MPI_INT, 0, tag, comm, MPI_INFO_NULL, &requests[0]);
        MPI_Precv_init(&value, 1, 1, MPI_INT, 0, tag, comm, MPI_INFO_NULL, &requests[1]);
        MPI_Request_free(&requests[0]);
        MPI_Request_free(&requests[1]);
    }
    MPI_Comm_free(&comm);
}

static long mapped_pages(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    CHECK(file != NULL && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    return pages;
}

/* Returns the pages that the rounds have added. */
static long cost_of(int tags)
{
    const long before = mapped_pages();

    for (int i = 0; i < ROUNDS; i++) {
        make_and_free(tags);
    }
    return mapped_pages() - before;
}

int main(int argc, char **argv)
{
    long first, without, with;

    probe_begin(argc, argv, 2);
    first = cost_of(10); /* memory that is kept for reuse */
    probe_gate();
    without = cost_of(0); /* the communicators' part */
    with = cost_of(10);
    if (with > without + 100) {
        fprintf(stderr, "%ld pages, then %ld without and %ld with transfers\n", first,
                without, with);
    }
    /* The transfers take more than 600 pages. */
    CHECK(with <= without + 100);
    return probe_end();
}
