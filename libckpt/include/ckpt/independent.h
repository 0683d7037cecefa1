/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * independent.h - what ranks with independent checkpoints and their agent share: one
 * memory file of the node (docs/windows.md, section 2).
 *
 * After Sultan (2004), chapter 4. A rank's execution is divided into intervals by its
 * synchronisation calls; `interval` counts those it has closed. Written by the rank
 * itself, if not said otherwise, with one store each, and read by others at any time.
 */
#ifndef CKPT_INDEPENDENT_H
#define CKPT_INDEPENDENT_H

#include <assert.h>
#include <stdint.h>

#define CKPT_INDEPENDENT_MAGIC 0x444e494bu
#define CKPT_INDEPENDENT_VERSION 4u

/* One rank of the job. */
struct ckpt_independent_rank {
    uint64_t interval;  /* closed so far, and delivered */
    uint64_t uncovered; /* calls begun that a replay cannot repeat: messages,
                           collectives, new windows */
    uint64_t uncovered_done; /* of these, ended */

    /* Its newest independent checkpoint. */
    uint64_t kept;           /* how many there have been; 0: none */
    uint64_t kept_interval;  /* `interval` at it */
    uint64_t kept_uncovered; /* `uncovered` at it */

    /* For ckpt status. */
    uint64_t log_bytes;     /* in its logs now */
    uint64_t logged_bytes;  /* ever */
    uint64_t trimmed_bytes; /* ever */

    /* Written by any rank. */
    uint64_t lost;   /* a log lacked room for what its replay would need; it clears
                        this with its next checkpoint */
    uint64_t wanted; /* another log is too full of what it would need: it is to take
                        a checkpoint soon; counts up */
    uint64_t barriers; /* of MPI_COMM_WORLD that it has come to; written by itself */

    /* What it costs, for ckpt status: since the launch that was no restart. */
    uint64_t payload_bytes; /* of the program, to windows and from them */
    uint64_t control_bytes; /* told to other ranks, so that they can trim their logs */
    uint64_t logging_ns;    /* spent on logs, from samples */
    uint64_t keeping_ns;    /* spent on independent checkpoints */

    uint64_t kept_wanted; /* `wanted` when it began to take its newest checkpoint: if they
                             differ it has been asked for another one */
    uint64_t replaying;   /* 1: it does again what it did before it was killed */
    uint64_t spare[6];
};

struct ckpt_independent_page {
    uint32_t magic;
    uint32_t version;
    uint32_t rank_count;
    uint32_t reserved;
    uint64_t invitations; /* to checkpoints behind the next barrier; counts up, by any rank */
    uint64_t spare[5];
    struct ckpt_independent_rank rank[]; /* [rank_count] */
};

#define CKPT_INDEPENDENT_SIZE(rank_count)                                      \
    (sizeof(struct ckpt_independent_page) +                                    \
     (rank_count) * sizeof(struct ckpt_independent_rank))

static_assert(sizeof(struct ckpt_independent_rank) == 192, "layout of a rank");
static_assert(sizeof(struct ckpt_independent_page) == 64, "layout of the page");

#endif
