/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system_v.h - System V shared memory, semaphores and message queues of the program.
 *
 * The kernel does not report which process uses such an object, so the wrappers of the calls
 * record it.
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

/* Records that the program has used an object. Returns `id`; ignores a negative one. Preserves
 * errno. Context: normal, also in a signal handler. */
int ckpt_system_v_note(enum ckpt_system_v_kind kind, int id);

/*
 * Fills in the fields for a region of attached shared memory: kind, inode, device and mode.
 * Returns 0, or -errno with the id in `failure`. Context: quiesced.
 */
int ckpt_system_v_describe(int id, struct ckpt_region *region,
                           struct ckpt_failure *failure);

/*
 * Reads the semaphores and queues that the program uses into the arena, which must stay valid
 * until ckpt_system_v_restore(). Returns 0, or -errno with kind and id of an object that cannot
 * be saved in `failure`. Context: quiesced.
 */
int ckpt_system_v_save(struct ckpt_arena *arena, struct ckpt_failure *failure);

/*
 * Checks that the regions include all existing shared memory that the program has used. Returns
 * 0, or -ENOTSUP with id and key of a missing one in `failure`: no rank would save it. Context:
 * quiesced.
 */
int ckpt_system_v_require_attached(const struct ckpt_region *regions,
                                   size_t count, struct ckpt_failure *failure);

/* Returns a number for this node, its boot and the IPC namespace. */
uint64_t ckpt_system_v_node(void);

/* The node and the time at which semaphores and queues were saved. */
struct ckpt_system_v_place {
    uint64_t node; /* 0: no objects were saved */
    int64_t time;  /* CLOCK_MONOTONIC of that node, ns, before the first read */
};
struct ckpt_system_v_place ckpt_system_v_saved_at(void);

/*
 * After a restart: recreates the saved objects under their ids. since: 0 on the node where they
 * were saved. On another node: time of CLOCK_REALTIME, in seconds; an existing object is used
 * only if it is not older, which means that another rank created it. Returns 0 or -errno with
 * kind and id in `failure`. Context: quiesced.
 */
int ckpt_system_v_restore(int64_t since, struct ckpt_failure *failure);

/* After a restart, when all ranks have attached the memory: removes the memory that had been
 * marked for removal. Context: quiesced. */
void ckpt_system_v_settle(const struct ckpt_region *regions, size_t count);

#endif
