/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * free_later.c - return memory to malloc() at a point where calling malloc() is
 * safe.
 */
#include "runtime/free_later.h"

#include "base/arena.h"
#include "runtime/crossing.h"

#include <stdlib.h>

struct note {
    struct note *next;
    void *memory;
};

static struct note *notes;

void ckpt_free_later(void *memory)
{
    struct note *note;

    if (memory == NULL) {
        return;
    }
    note = ckpt_memory_alloc(sizeof(*note));
    if (note != NULL) { /* else the memory leaks, which is harmless */
        *note = (struct note){notes, memory};
        notes = note;
    }
}

void ckpt_free_noted(void)
{
    if (ckpt_state == CKPT_STATE_SERVICE) {
        return;
    }
    while (notes != NULL) {
        struct note *note = notes;

        notes = note->next;
        free(note->memory);
        ckpt_memory_free(note, sizeof(*note));
    }
}
