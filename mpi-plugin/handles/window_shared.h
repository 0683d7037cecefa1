/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window_shared.h - windows whose memory all members map: those of
 * MPI_Win_allocate_shared, and of MPI_Win_allocate on one node.
 *
 * The lower half allocates the memory, since it may access it in its fastest
 * way; the application gets a second mapping of the same pages, at an address
 * that it keeps for ever. Where in its memory a lower half puts the window
 * differs among releases, so ours begins at the first whole page there: what
 * the application means by rank and displacement is translated.
 *
 * At a cut each rank saves its own segment, and keeps the addresses of the
 * others'. A restart fills the new lower half's pages before it maps them.
 */
#ifndef CKPT_WINDOW_SHARED_H
#define CKPT_WINDOW_SHARED_H

#include "ckpt/snapshot.h"
#include "handles/window.h"

/* Where a rank's memory is. The first two are what it asked for, and travel. */
struct ckpt_segment {
    uint64_t size;
    uint64_t unit;
    uint64_t offset; /* in our mapping */
    int64_t origin;  /* displacement, in bytes, for the lower half */
};

struct ckpt_shared {
    char *start;   /* our mapping, NULL before there is one */
    uint64_t span; /* bytes, whole pages */
    int aligned;   /* segments begin at pages of their own */
    int apart;     /* and each is an allocation of its rank below */
    int mapped;    /* the lower window is made of these pages */
    int count;
    struct ckpt_segment segment[]; /* [count], by rank */
};

/* Segments may lie apart if the application wants that or cannot know; one: in a
 * single allocation nevertheless. NULL: out of memory. Context: normal. */
struct ckpt_shared *ckpt_shared_new(int count, int aligned, int one);

/* Whether all members of a lower communicator can share memory; collective.
 * Runs with the lower thread pointer. Returns an MPI error code. */
int ckpt_shared_possible(MPI_Comm comm, int *possible);

/* Makes the lower window; collective. Runs with the lower thread pointer.
 * Returns an MPI error code. */
int ckpt_shared_make(MPI_Win win, MPI_Comm comm, MPI_Info info, MPI_Win *lower);

/* Maps the pages of a new lower window for the application: where there is
 * room, or, after a restart, where they were, with their content. Runs with the
 * lower thread pointer. Returns an MPI error code. */
int ckpt_shared_map(MPI_Win win);

/* Where this process sees a rank's segment; NULL if there is none because it is
 * empty and lies apart. Context: any. */
void *ckpt_shared_base(MPI_Win win, int rank);

/* Before the lower window is freed; with the lower thread pointer. */
void ckpt_shared_unalias(MPI_Win win);

/* Unmaps our mapping and frees the structure. */
void ckpt_shared_free(struct ckpt_shared *shared);

/*
 * The regions of the snapshot that the window's memory makes, in order of
 * address; to be left out of the scan of all mappings. Returns their number, at
 * most 3. Context: quiesced, at the cut.
 */
int ckpt_shared_regions(MPI_Win win, struct ckpt_region regions[3]);

#endif
