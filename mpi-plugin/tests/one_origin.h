/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * one_origin.h - rank 0 of two, which writes to the window memory of both: the plugin's own
 * staging, logs and limits of logs, over a window that is just memory. What the rest of the
 * plugin would do is told here, or noted.
 */
#ifndef CKPT_ONE_ORIGIN_H
#define CKPT_ONE_ORIGIN_H

#include "ckpt/independent.h"
#include "independent/log_limit.h"
#include "independent/volatile_log.h"

enum { ORIGIN_RANKS = 2, ORIGIN_BYTES = 4096 }; /* of each rank's memory */

/* What the world does to the code under test, and what that did. */
struct origin_world {
    uint64_t kept[ORIGIN_RANKS]; /* V, of the newest checkpoint of each rank */
    int64_t bound_error; /* a mutant: the bound by which logs are trimmed is that much off */
    int is_freed;        /* the window is there no more */

    uint64_t interval; /* the last one that was closed */
    uint64_t order;
    int lost;                          /* times that this rank's log lacked room */
    uint64_t lost_since[ORIGIN_RANKS]; /* the first interval that cannot be told, or 0 */
    uint64_t asked_since[ORIGIN_RANKS]; /* the last one that a checkpoint was asked for */
    struct ckpt_independent_rank page;
};
extern struct origin_world origin_world;

/* Anew, with rings of so many bytes; and the end of that. shared: the memory of both ranks is
 * one piece. */
void origin_open(uint64_t capacity, int shared);
void origin_close(void);

struct ckpt_volatile_log *origin_log(void);
char *origin_memory(int rank);

/* Stages a put of two ranges of `bytes` / 2, which begin `apart` bytes apart. 0: done. */
int origin_put(int target, uint64_t start, uint64_t apart, const char *from, uint64_t bytes);
unsigned origin_staged(void);       /* records in all */
unsigned origin_staged_for(int rank);

/* An interval for each that is staged; one without any. */
void origin_deliver(void);
void origin_synchronise(void);

/* Whether it does again what it did before it was killed. */
void origin_set_replaying(int yes);

/* As at a checkpoint of this rank. */
void origin_trim(void);

#endif
