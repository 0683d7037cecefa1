/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * status.h - the statuses of both libraries.
 */
#ifndef CKPT_ADAPT_STATUS_H
#define CKPT_ADAPT_STATUS_H

#include <mpi.h>

#include <stddef.h>

/* MPI_Status as Open MPI lays it out. */
struct adapt_status {
    int source;
    int tag;
    int error;
    int cancelled;
    size_t count; /* bytes */
};

/* wrap/status.c compares the same numbers with Open MPI's mpi.h. */
_Static_assert(offsetof(struct adapt_status, source) == 0 &&
                   offsetof(struct adapt_status, tag) == 4 &&
                   offsetof(struct adapt_status, error) == 8 &&
                   offsetof(struct adapt_status, cancelled) == 12,
               "layout of Open MPI's MPI_Status");
_Static_assert(offsetof(struct adapt_status, count) == 16 && sizeof(struct adapt_status) == 24,
               "layout of Open MPI's MPI_Status");

/*
 * Called before a call that stores a status: marks `mpich` as untouched.
 * Returns the pointer to pass: `mpich`, or MPI_STATUS_IGNORE if the caller
 * wants no status.
 * Context of all: any (lower half).
 */
MPI_Status *adapt_status_begin(const struct adapt_status *status,
                               MPI_Status *mpich);

/* Called after it: copies to *status the fields that MPICH has set. A call that
 * completed nothing sets nothing. Ignores a NULL `status`. */
void adapt_status_end(const MPI_Status *mpich, struct adapt_status *status);

/* Converts a status for a call of MPICH that reads it. */
void adapt_status_in(const struct adapt_status *status, MPI_Status *mpich);

/* The first two for an array. _begin returns memory that _end frees. It returns
 * MPI_STATUSES_IGNORE for NULL or if out of memory. */
MPI_Status *adapt_statuses_begin(const struct adapt_status *statuses,
                                 int count);
void adapt_statuses_end(MPI_Status *mpich, struct adapt_status *statuses,
                        int count);

#endif
