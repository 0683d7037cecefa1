/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system_v_objects.h - System V semaphores and message queues: what is saved of
 * them, in the memory of each rank that uses one.
 *
 * A restart makes them again under their ids. Every rank that has one does so,
 * one after the other. Threads of a rank may have run on when another rank had
 * saved already; the last one to save saw all of them stand still.
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
    uint64_t count; /* semaphores of the set; messages of the queue */
    uint64_t limit; /* bytes of a queue */
    void *content;  /* uint16_t values[count]; or struct ckpt_system_v_message */
};

/* Followed by its bytes, and those by the next, at a multiple of 8. */
struct ckpt_system_v_message {
    uint64_t size;
    long type; /* as msgsnd() takes it, just before the bytes */
    char bytes[];
};

/* system_v_semaphores.c, system_v_queue.c: reads an object into the arena; one
 * that has gone gets kind 0. 0 or -errno with the id in `failure`. Quiesced. */
int ckpt_system_v_save_semaphores(struct ckpt_arena *arena, int id,
                                  struct ckpt_system_v_object *object,
                                  struct ckpt_failure *failure);
int ckpt_system_v_save_queue(struct ckpt_arena *arena, int id,
                             struct ckpt_system_v_object *object,
                             struct ckpt_failure *failure);

/* Whether it is there: 1 if it looks the same, 0 if there is nothing under its
 * id, -1 for something else. since: 0, or seconds: not if it is older. */
int ckpt_system_v_find_semaphores(const struct ckpt_system_v_object *object,
                                  int64_t since);
int ckpt_system_v_find_queue(const struct ckpt_system_v_object *object,
                             int64_t since);

/* Gives an object that is there its content. 0 or -errno. */
int ckpt_system_v_fill_semaphores(const struct ckpt_system_v_object *object);
int ckpt_system_v_fill_queue(const struct ckpt_system_v_object *object);

#endif
