/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system_v_objects.h - saved System V semaphores and message queues, in the memory of each rank
 * that uses them.
 *
 * A restart recreates them under their ids. Every rank that uses an object does this, one rank
 * after the other. While one rank had already saved an object, threads of another rank may
 * still have been running. The last rank to save it saw all of them stopped.
 */
#ifndef CKPT_SYSTEM_V_OBJECTS_H
#define CKPT_SYSTEM_V_OBJECTS_H

#include "base/arena.h"
#include "ckpt/failure.h"
#include "ipc/system_v.h"

#include <stdint.h>

struct ckpt_system_v_object {
    enum ckpt_system_v_kind kind;
    int id;
    int key;
    unsigned mode;
    uint64_t count; /* number of semaphores, or of messages in the queue */
    uint64_t limit; /* maximum bytes of a queue */
    void *content;  /* uint16_t values[count]; or struct ckpt_system_v_message */
};

/* A message. Its bytes follow, then the next message, at a multiple of 8. */
struct ckpt_system_v_message {
    uint64_t size;
    long type; /* message type; msgsnd() expects the bytes directly after it */
    char bytes[];
};

/* system_v_semaphores.c, system_v_queue.c: read an object into the arena. A removed object gets
 * kind 0. Return 0 or -errno with the id in `failure`. Context: quiesced. */
int ckpt_system_v_save_semaphores(struct ckpt_arena *arena, int id,
                                  struct ckpt_system_v_object *object,
                                  struct ckpt_failure *failure);
int ckpt_system_v_save_queue(struct ckpt_arena *arena, int id,
                             struct ckpt_system_v_object *object,
                             struct ckpt_failure *failure);

/* Look for the object. Return 1 if a matching one exists, 0 if its id is unused, -1 if
 * something else has its id. since: 0, or the minimum time of creation in seconds. */
int ckpt_system_v_find_semaphores(const struct ckpt_system_v_object *object,
                                  int64_t since);
int ckpt_system_v_find_queue(const struct ckpt_system_v_object *object,
                             int64_t since);

/* Write the saved content into an existing object. Return 0 or -errno. */
int ckpt_system_v_fill_semaphores(const struct ckpt_system_v_object *object);
int ckpt_system_v_fill_queue(const struct ckpt_system_v_object *object);

#endif
