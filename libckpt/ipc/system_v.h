/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system_v.h - System V shared memory, semaphores and message queues that the
 * program uses. The kernel does not tell whose they are: who uses one is known
 * by its calls.
 */
#ifndef CKPT_SYSTEM_V_H
#define CKPT_SYSTEM_V_H

#include "base/arena.h"
#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

#include <stddef.h>

enum ckpt_system_v_kind {
    CKPT_SYSTEM_V_MEMORY = 1,
    CKPT_SYSTEM_V_SEMAPHORES = 2,
    CKPT_SYSTEM_V_QUEUE = 3,
};

/* The program has used an object. Returns `id`; a negative one is not noted.
 * Changes no errno. Context: normal, also in a signal handler. */
int ckpt_system_v_note(enum ckpt_system_v_kind kind, int id);

/*
 * Fills what a region of attached shared memory has of its own: kind, inode,
 * device and mode. 0, or -errno with the id in `failure`. Context: quiesced.
 */
int ckpt_system_v_describe(int id, struct ckpt_region *region,
                           struct ckpt_failure *failure);

/*
 * Reads the semaphores and queues that the program uses into the arena, where
 * they stay for ckpt_system_v_restore(). 0, or -errno with kind and id of one
 * that cannot be saved in `failure`. Context: quiesced.
 */
int ckpt_system_v_save(struct ckpt_arena *arena, struct ckpt_failure *failure);

/*
 * 0 if all shared memory that the program has used, and that is there, is among
 * the regions. Else -ENOTSUP with its id and key in `failure`: nobody would save
 * it. Context: quiesced.
 */
int ckpt_system_v_require_attached(const struct ckpt_region *regions,
                                   size_t count, struct ckpt_failure *failure);

/* A number for this node, its boot and the namespace of its objects. */
uint64_t ckpt_system_v_node(void);

/* Where and when semaphores and queues were saved. */
struct ckpt_system_v_place {
    uint64_t node; /* 0: there were none */
    int64_t time;  /* CLOCK_MONOTONIC there, ns: before the first was read */
};
struct ckpt_system_v_place ckpt_system_v_saved_at(void);

/*
 * After a restart: makes what was saved again, under its ids. since: 0 where it
 * was saved; elsewhere what is there already is only taken if it is not older,
 * in seconds of CLOCK_REALTIME: made by another rank.
 * 0 or -errno with kind and id in `failure`. Context: quiesced.
 */
int ckpt_system_v_restore(int64_t since, struct ckpt_failure *failure);

/* After a restart, when all ranks have attached it: removes the memory that had
 * been removed. Context: quiesced. */
void ckpt_system_v_settle(const struct ckpt_region *regions, size_t count);

#endif
