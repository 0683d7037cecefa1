/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arguments.h - arguments that are neither handles nor statuses.
 *
 * Context of all: any (lower half).
 */
#ifndef CKPT_ADAPT_ARGUMENTS_H
#define CKPT_ADAPT_ARGUMENTS_H

#include "adapt/constants.h"

#include <mpi.h>

/* Returns 1 if a buffer of the application is MPI_IN_PLACE. */
static inline int adapt_in_place(const void *buffer)
{
    return buffer == adapt_openmpi_in_place;
}

static inline void *adapt_buffer(const void *buffer)
{
    return adapt_in_place(buffer) ? MPI_IN_PLACE : (void *)buffer;
}

/* Converts weights of edges, or MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY. */
static inline int *adapt_weights(const int *weights)
{
    if (weights == adapt_openmpi_unweighted) {
        return MPI_UNWEIGHTED;
    }
    return weights == adapt_openmpi_weights_empty ? MPI_WEIGHTS_EMPTY
                                                  : (int *)weights;
}

/* Copies a string, truncated to the application's buffer; sets *length_p,
 * unless it is NULL. */
void adapt_text_out(const char *text, char *to, enum adapt_room room,
                    int *length_p);

/* Converts error codes in place; NULL is MPI_ERRCODES_IGNORE. */
void adapt_codes_out(int codes[], int count);

#endif
