/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * halo.h - two grids with copies of the neighbours' rows, in a window, and
 * MPI's ways to synchronise the exchange of these rows.
 *
 * The ranks have a square grid in blocks of rows; both its directions wrap
 * around. Each rank has two copies of its rows, so that it can compute one from
 * the other. Row 0 and the row after the last one are copies of the neighbours'
 * rows. Errors of MPI end the job.
 */
#ifndef HALO_H
#define HALO_H

#include "selfcheck.h"

#define HALO_COPIES 2

/* How the exchange is synchronised. */
enum halo_mode {
    HALO_FENCE,    /* MPI_Win_fence, MPI_Get */
    HALO_LOCK,     /* MPI_Win_lock of each neighbour, MPI_Put; a barrier */
    HALO_LOCK_ALL, /* MPI_Rput, in shared windows stores; MPI_Win_flush_all,
                      MPI_Win_sync and a barrier */
    HALO_PSCW,     /* post, start, MPI_Put, complete, wait */
};

/* Names of the modes, in their order, then NULL. */
extern const char *const halo_modes[];

struct halo {
    MPI_Win window; /* displacements are cells */
    enum halo_mode mode;
    long side, rows; /* of the whole grid, and of this rank */
    uint32_t *cells;
    int rank, up, down;      /* this rank and its neighbours */
    long up_rows, down_rows; /* the neighbours' numbers of rows */
    MPI_Group neighbours;    /* for HALO_PSCW */
    uint32_t *stored[2];     /* shared: the cells of `up` and `down`, or NULL */
};

/* Makes the window, shared or allocated, filled with zeros; the side is at
 * least the number of ranks. Collective; freed by halo_free(). */
void halo_make(struct halo *halo, enum halo_mode mode, long side, int shared);

/* Collective. */
void halo_free(struct halo *halo);

/* Returns row `row` of copy 0 or 1; this rank's own rows are 1 to `rows`. */
uint32_t *halo_row(const struct halo *halo, int copy, long row);

/* Gets the neighbours' rows into one of the copies, whose own rows must be
 * complete. The caller may write to the other copy meanwhile. Collective. */
void halo_exchange(const struct halo *halo, int copy);

#endif
