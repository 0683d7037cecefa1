/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page.h - the memory that all ranks of a node share for independent checkpoints, and this
 * rank's data in it (ckpt/independent.h).
 *
 * After Sultan (2004), chapter 4: calls that synchronise divide each rank's execution into
 * intervals. A vector time has one count of intervals per rank.
 */
#ifndef CKPT_INDEPENDENT_PAGE_H
#define CKPT_INDEPENDENT_PAGE_H

#include "runtime/uncovered.h"

#include <mpi.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/*
 * Makes or maps the page, if --protocol independent is in use and all ranks are on one node;
 * collective over MPI_COMM_WORLD. Context: normal, between ckpt_begin and ckpt_end, once.
 * Returns an MPI error code.
 */
int ckpt_independent_open(int rank, int rank_count);

/*
 * Called after a restart, when the communicators exist again: makes the page in this launch,
 * with the same contents, at the same address; collective. Context: quiesced. Returns an MPI
 * error code.
 */
int ckpt_independent_restarted(void);

/* The same in a rank that has changed worlds. Ranks that come back from a copy call the function
 * above. Context: quiesced. Returns an MPI error code. */
int ckpt_independent_in_new_world(void);

/* The page's descriptor, or -1. It belongs to neither half and is never saved. */
int ckpt_independent_descriptor(void);

/* A memory file that several processes map. */
struct ckpt_independent_file {
    void *memory; /* address to map it at, NULL: any; set to the actual address */
    size_t size;
    int descriptor; /* owned by the caller; close-on-exec */
};

/*
 * Maps one file of zeros in all members of a lower communicator, which are on one node; the
 * first member makes the file. Collective. Runs with the lower thread pointer. Returns an MPI
 * error code; the memory is then valid until munmap.
 */
int ckpt_independent_share(MPI_Comm comm, const char *name, struct ckpt_independent_file *file);

/* The same, without the descriptor. */
int ckpt_independent_share_memory(MPI_Comm comm, const char *name, size_t size,
                                  void **memory);

#pragma GCC visibility pop

/* Asks a rank for an independent checkpoint, unless it was asked since its last one. */
static inline void ckpt_rank_ask(struct ckpt_independent_rank *one)
{
    if (__atomic_load_n(&one->wanted, __ATOMIC_ACQUIRE) == one->kept_wanted) {
        (void)__atomic_add_fetch(&one->wanted, 1, __ATOMIC_ACQ_REL);
    }
}

#endif
