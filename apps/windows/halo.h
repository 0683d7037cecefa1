/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * halo.h - two grids with rows of their neighbours, in a window, and the ways
 * of MPI to synchronise the exchange of these rows.
 *
 * A square grid is dealt out to the ranks in blocks of rows, and both its
 * directions are closed. Each rank has two copies of its rows, so that one can
 * be computed from the other; row 0 and the row after its last one are copies
 * of the neighbours'. Errors of MPI end the job.
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
    long up_rows, down_rows; /* of these */
    MPI_Group neighbours;    /* of HALO_PSCW */
    uint32_t *stored[2];     /* shared: the cells of `up` and `down`, or NULL */
};

/* Makes the window, shared or allocated, of zeros; the side is at least the
 * number of ranks. Collective; freed by halo_free(). */
void halo_make(struct halo *halo, enum halo_mode mode, long side, int shared);

/* Collective. */
void halo_free(struct halo *halo);

/* Row `row` of copy 0 or 1; this rank's own are from 1 to `rows`. */
uint32_t *halo_row(const struct halo *halo, int copy, long row);

/* The rows of the neighbours come to this rank, in one of the copies, whose
 * own rows must be complete; the other copy may be written to by its rank
 * meanwhile. Collective. */
void halo_exchange(const struct halo *halo, int copy);

#endif
