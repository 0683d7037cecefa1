/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * area.h - memory of all ranks in one window, addressed by rank and byte.
 *
 * In a shared area other ranks' parts are loaded from and stored to; otherwise
 * they are reached by MPI_Get and MPI_Rput. Words that several ranks change at
 * once are changed by MPI's atomic operations in either. An area is always
 * open for passive access (MPI_Win_lock_all); what area_read() and area_write()
 * touch must be kept apart by area_meet(), or by a lock and MPI_Win_sync.
 *
 * All MPI errors end the job (MPI_ERRORS_ARE_FATAL); out of memory, too.
 */
#ifndef AREA_H
#define AREA_H

#include "selfcheck.h"

struct area {
    MPI_Win window;       /* displacements are bytes */
    unsigned char *own;   /* this rank's part */
    unsigned char **part; /* by rank; NULL where there is no direct access */
    int ranks;
};

/* Makes a window with so many zero bytes in this rank's part, shared by load
 * and store or not. Collective; freed by area_free(). */
void area_make(struct area *area, size_t bytes, int shared);

/* The same, with hints for the window. */
void area_make_with(struct area *area, size_t bytes, int shared, MPI_Info info);

/* Collective. */
void area_free(struct area *area);

/* Copies from a rank's part; returns when the bytes are there. */
void area_read(const struct area *area, int rank, size_t at, void *to,
               size_t bytes);

/* Copies into a rank's part. `from` can be used again at once; others see it
 * after area_meet() or area_flush(). */
void area_write(const struct area *area, int rank, size_t at, const void *from,
                size_t bytes);

/* What has been written to the rank is there, also for its loads once it has
 * called MPI_Win_sync. */
void area_flush(const struct area *area, int rank);

/* A barrier: what any rank has written before, every rank can read after. */
void area_meet(const struct area *area);

/* Adds to a word (MPI_Fetch_and_op); what it was before. */
uint64_t area_fetch_add(const struct area *area, int rank, size_t at,
                        uint64_t number);

/* A word that others may be changing (MPI_Fetch_and_op with MPI_NO_OP). */
uint64_t area_fetch(const struct area *area, int rank, size_t at);

/* Sets such a word (MPI_Accumulate with MPI_REPLACE). */
void area_replace(const struct area *area, int rank, size_t at,
                  uint64_t number);

/* Sets a word to `number` if it is `expected` (MPI_Compare_and_swap); what it
 * was before. */
uint64_t area_compare_and_swap(const struct area *area, int rank, size_t at,
                               uint64_t expected, uint64_t number);

#endif
