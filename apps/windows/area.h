/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * area.h - memory of all ranks in one window, addressed by rank and byte.
 *
 * In a shared area a rank uses loads and stores on other ranks' parts;
 * otherwise it uses MPI_Get and MPI_Rput. Words that several ranks change at
 * once are changed by MPI's atomic operations in both cases. An area is always
 * open for passive access (MPI_Win_lock_all). Callers must separate accesses by
 * area_read() and area_write() by area_meet(), or by a lock and MPI_Win_sync.
 *
 * All MPI errors end the job (MPI_ERRORS_ARE_FATAL); so does a lack of memory.
 */
#ifndef AREA_H
#define AREA_H

#include "selfcheck.h"

struct area {
    MPI_Win window;       /* displacements are bytes */
    unsigned char *own;   /* this rank's part */
    unsigned char **part; /* this rank's part */
    int ranks;
};

/* Makes a window with `bytes` zero bytes in this rank's part, shared by load
 * and store or not. Collective; freed by area_free(). */
void area_make(struct area *area, size_t bytes, int shared);

/* The same, with hints for the window. */
void area_make_with(struct area *area, size_t bytes, int shared, MPI_Info info);

/* Collective. */
void area_free(struct area *area);

/* Copies from a rank's part; returns when the bytes have arrived. */
void area_read(const struct area *area, int rank, size_t at, void *to,
               size_t bytes);

/* Copies into a rank's part. The caller may reuse `from` at once; other ranks
 * see the bytes after area_meet() or area_flush(). */
void area_write(const struct area *area, int rank, size_t at, const void *from,
                size_t bytes);

/* Completes all writes to the rank; the rank's loads see them after it has
 * called MPI_Win_sync. */
void area_flush(const struct area *area, int rank);

/* A barrier: every rank can read what any rank wrote before. */
void area_meet(const struct area *area);

/* Adds to a word (MPI_Fetch_and_op); returns its previous value. */
uint64_t area_fetch_add(const struct area *area, int rank, size_t at,
                        uint64_t number);

/* Reads a word that others may be changing (MPI_Fetch_and_op with
 * MPI_NO_OP). */
uint64_t area_fetch(const struct area *area, int rank, size_t at);

/* Sets such a word (MPI_Accumulate with MPI_REPLACE). */
void area_replace(const struct area *area, int rank, size_t at,
                  uint64_t number);

/* Sets a word to `number` if it is `expected` (MPI_Compare_and_swap); returns
 * its previous value. */
uint64_t area_compare_and_swap(const struct area *area, int rank, size_t at,
                               uint64_t expected, uint64_t number);

#endif
