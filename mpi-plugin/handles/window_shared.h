/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window_shared.h - windows whose memory all members map: those of
 * MPI_Win_allocate_shared, and those of MPI_Win_allocate on one node.
 *
 * The lower half allocates the memory, so that it can use its fastest access.
 * The application gets a second mapping of the same pages, at an address that
 * never changes. Releases differ in where in its memory the lower half puts the
 * window. So our mapping begins at the first whole page there, and the
 * application's rank and displacement are translated.
 *
 * At a cut each rank saves its own segment, and keeps the addresses of the
 * others'. A restart fills the new lower half's pages before it maps them.
 */
#ifndef CKPT_WINDOW_SHARED_H
#define CKPT_WINDOW_SHARED_H

#include "ckpt/snapshot.h"
#include "handles/window.h"

/* Where a rank's memory is. The rank asked for the first two, and sends them to
 * the others. */
struct ckpt_segment {
    uint64_t size;
    uint64_t unit;
    uint64_t offset; /* in our mapping */
    int64_t origin;  /* displacement, in bytes, for the lower half */
};

struct ckpt_shared {
    char *start;   /* our mapping; NULL until it exists */
    uint64_t span; /* bytes, whole pages */
    int aligned;   /* segments begin at pages of their own */
    int apart;     /* each is a separate allocation of its rank below */
    int mapped;    /* the lower window uses these pages */
    int count;
    struct ckpt_segment segment[]; /* [count], by rank */
};

/* Returns a new structure. The segments may lie apart if the application wants
 * that or cannot tell. one: use a single allocation nevertheless. NULL: out of
 * memory. Context: normal. */
struct ckpt_shared *ckpt_shared_new(int count, int aligned, int one);

/* Determines whether all members of a lower communicator can share memory;
 * collective. Runs with the lower thread pointer. Returns an MPI error code. */
int ckpt_shared_possible(MPI_Comm comm, int *possible);

/* Makes the lower window; collective. Runs with the lower thread pointer.
 * Returns an MPI error code. */
int ckpt_shared_make(MPI_Win win, MPI_Comm comm, MPI_Info info, MPI_Win *lower);

/* Maps the pages of a new lower window for the application at a free address.
 * After a restart it maps them at their former address, with their content.
 * Runs with the lower thread pointer. Returns an MPI error code. */
int ckpt_shared_map(MPI_Win win);

/* Returns the address of a rank's segment in this process; NULL for an empty
 * segment that lies apart. Context: any. */
void *ckpt_shared_base(MPI_Win win, int rank);

/* Called before the lower window is freed, with the lower thread pointer. */
void ckpt_shared_unalias(MPI_Win win);

/* Unmaps our mapping and frees the structure. */
void ckpt_shared_free(struct ckpt_shared *shared);

/*
 * Lists the regions of the window's memory for the snapshot, in order of
 * address. The caller excludes them from the scan of all mappings. Returns
 * their number, at most 3. Context: quiesced, at the cut.
 */
int ckpt_shared_regions(MPI_Win win, struct ckpt_region regions[3]);

#endif
