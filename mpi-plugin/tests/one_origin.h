/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * one_origin.h - rank 0 of two, which writes to the window memory of both. It uses the plugin's own
 * staging, logs and log limits, over a window of plain memory. It replaces the rest of the plugin;
 * a test sets its answers and reads its notes.
 */
#ifndef CKPT_ONE_ORIGIN_H
#define CKPT_ONE_ORIGIN_H

#include "ckpt/independent.h"
#include "independent/log/volatile_log.h"
#include "independent/log_limit.h"

enum {
    ORIGIN_RANKS = 2,
    ORIGIN_BYTES = 4096
}; /* of each rank's memory */

/* Input for the code under test, and its results. */
struct origin_world {
    uint64_t kept[ORIGIN_RANKS]; /* V, of the newest checkpoint of each rank */
    /* For a mutant: an error of this size in the bound for log trimming. */
    int64_t bound_error;
    int is_freed; /* the window no longer exists */

    uint64_t interval; /* the last closed one */
    uint64_t order;
    int lost;                           /* how often this rank's log lacked room */
    uint64_t lost_since[ORIGIN_RANKS];  /* first interval missing in the log, or 0 */
    uint64_t asked_since[ORIGIN_RANKS]; /* last interval of a requested checkpoint */
    struct ckpt_independent_rank page;
};
extern struct origin_world origin_world;

/* Starts with empty rings of `capacity` bytes; ends. shared: the memory of both ranks is one
 * piece. */
void origin_open(uint64_t capacity, int shared);
void origin_close(void);

struct ckpt_volatile_log *origin_log(void);
char *origin_memory(int rank);

/* Stages a put of two ranges of `bytes` / 2, whose starts are `apart` bytes apart. Returns 0 if it
 * was staged. */
int origin_put(int target, uint64_t start, uint64_t apart, const char *from, uint64_t bytes);
unsigned origin_staged(void); /* records in all */
unsigned origin_staged_for(int rank);

/* Delivers each staged put in its own interval; ends an interval without a put. */
void origin_deliver(void);
void origin_synchronise(void);

/* Sets whether the rank replays its earlier operations. */
void origin_set_replaying(int yes);

/* Trims as at a checkpoint of this rank. */
void origin_trim(void);

#endif
