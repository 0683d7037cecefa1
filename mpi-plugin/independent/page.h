/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page.h - the memory that all ranks of a node share for independent checkpoints, and
 * what this rank tells there (ckpt/independent.h).
 *
 * After Sultan (2004), chapter 4: each rank's execution is divided into intervals by
 * calls that synchronise; a vector time has one count of them for each rank.
 */
#ifndef CKPT_INDEPENDENT_PAGE_H
#define CKPT_INDEPENDENT_PAGE_H

#include "ckpt/independent.h"

#include <mpi.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* NULL unless the job takes independent checkpoints. */
extern struct ckpt_independent_page *ckpt_independent;

/* This rank's part of it; without it one that nobody reads. */
extern struct ckpt_independent_rank *ckpt_independent_self;

/*
 * Makes or maps the page, if --protocol independent was asked for and all ranks are on
 * one node; collective over MPI_COMM_WORLD. Context: normal, between ckpt_begin and
 * ckpt_end, once. Returns an MPI error code.
 */
int ckpt_independent_open(int rank, int rank_count);

/*
 * After a restart, when the communicators have been made again: the page is one of this
 * launch, with the same content, in the same place; collective. Context: quiesced. Returns
 * an MPI error code.
 */
int ckpt_independent_restarted(void);

/* The page's descriptor, or -1: belongs to no half, is never saved. */
int ckpt_independent_descriptor(void);

/* A memory file that several map. */
struct ckpt_independent_file {
    void *memory; /* where to map it, NULL: anywhere; then where it is mapped */
    size_t size;
    int descriptor; /* the caller's; close-on-exec */
};

/*
 * Has all members of a lower communicator, which are on one node, map one file of zeros,
 * which the first one makes; collective. Runs with the lower thread pointer. Returns an MPI
 * error code; the memory is then valid until munmap.
 */
int ckpt_independent_share(MPI_Comm comm, const char *name, struct ckpt_independent_file *file);

/* The same, without the descriptor. */
int ckpt_independent_share_memory(MPI_Comm comm, const char *name, size_t size,
                                  void **memory);

#pragma GCC visibility pop

/* Asks a rank for a checkpoint of itself, unless it has been asked since its last one. */
static inline void ckpt_rank_ask(struct ckpt_independent_rank *one)
{
    if (__atomic_load_n(&one->wanted, __ATOMIC_ACQUIRE) == one->kept_wanted) {
        (void)__atomic_add_fetch(&one->wanted, 1, __ATOMIC_ACQ_REL);
    }
}

/* Around what a replay could not repeat: messages, collectives. */
static inline void ckpt_uncovered_begin(void)
{
    ckpt_independent_self->uncovered++;
}

/* One that has been sent, or has come. */
static inline void ckpt_uncovered_message(void)
{
    ckpt_independent_self->uncovered++;
    ckpt_independent_self->uncovered_done++;
}

static inline void ckpt_uncovered_end(void)
{
    __asm__ volatile("" ::: "memory"); /* others read both */
    ckpt_independent_self->uncovered_done++;
}

#endif
