/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * independent.h - the memory file that the agent and the ranks of a node share for independent
 * checkpoints (docs/windows.md, section 2).
 *
 * The design follows Sultan (2004), chapter 4. The synchronisation calls of a rank divide its
 * execution into intervals; `interval` counts the closed ones. Unless noted otherwise, each
 * rank writes its own fields, with one store each. Other processes may read them at any time.
 */
#ifndef CKPT_INDEPENDENT_H
#define CKPT_INDEPENDENT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define CKPT_INDEPENDENT_MAGIC   0x444e494bu
#define CKPT_INDEPENDENT_VERSION 4u

/* One rank of the job. */
struct ckpt_independent_rank {
    uint64_t interval;       /* intervals closed so far, and delivered */
    uint64_t uncovered;      /* calls begun that a replay cannot repeat: messages, collectives, new
                                windows */
    uint64_t uncovered_done; /* how many of the `uncovered` calls have ended */

    /* Its newest independent checkpoint. */
    uint64_t kept;           /* independent checkpoints taken so far; 0: none */
    uint64_t kept_interval;  /* value of `interval` at that checkpoint */
    uint64_t kept_uncovered; /* value of `uncovered` at that checkpoint */

    /* For `ckpt status`. */
    uint64_t log_bytes;     /* bytes in the rank's logs now */
    uint64_t logged_bytes;  /* bytes logged in total */
    uint64_t trimmed_bytes; /* bytes trimmed from its logs in total */

    /* Written by any rank. */
    uint64_t lost;     /* a log had no room for a record that this rank's replay would need; the
                          rank clears this with its next checkpoint */
    uint64_t wanted;   /* incremented when another rank's log is too full of records for this
                          rank's replay: this rank must take a checkpoint soon */
    uint64_t barriers; /* barriers of MPI_COMM_WORLD that the rank has reached; the rank writes
                          this itself */

    /* Costs, for `ckpt status`, since the last launch that was not a restart. */
    uint64_t payload_bytes; /* application bytes moved to and from windows */
    uint64_t control_bytes; /* bytes sent to other ranks so that they can trim their logs */
    uint64_t logging_ns;    /* time spent on logs, estimated from samples */
    uint64_t keeping_ns;    /* time spent on independent checkpoints */

    uint64_t kept_wanted; /* value of `wanted` when the newest checkpoint began; if it differs,
                             another checkpoint has been requested */
    uint64_t replaying;   /* 1: the rank repeats what it did before it was killed */
    uint64_t spare[6];
};

struct ckpt_independent_page {
    uint32_t magic;
    uint32_t version;
    uint32_t rank_count;
    uint32_t reserved;
    uint64_t invitations; /* requests to checkpoint after the next barrier; any rank increments
                             it */
    uint64_t spare[5];
    struct ckpt_independent_rank rank[]; /* [rank_count] */
};

#define CKPT_INDEPENDENT_SIZE(rank_count)   \
    (sizeof(struct ckpt_independent_page) + \
     (rank_count) * sizeof(struct ckpt_independent_rank))

static_assert(sizeof(struct ckpt_independent_rank) == 192, "layout of a rank");
static_assert(offsetof(struct ckpt_independent_rank, kept) == 24 &&
                  offsetof(struct ckpt_independent_rank, lost) == 72 &&
                  offsetof(struct ckpt_independent_rank, replaying) == 136,
              "layout of a rank");
static_assert(sizeof(struct ckpt_independent_page) == 64, "layout of the page");
static_assert(offsetof(struct ckpt_independent_page, invitations) == 16 &&
                  offsetof(struct ckpt_independent_page, rank) == 64,
              "layout of the page");

#endif
