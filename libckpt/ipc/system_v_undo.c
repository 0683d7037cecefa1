/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system_v_undo.c - sums the SEM_UNDO operations of each semaphore.
 */
#include "ipc/system_v_undo.h"

#include "base/invariant.h"

#include <stdint.h>

#define CAPACITY 1024u

static struct {
    uint64_t key; /* set id << 16 | semaphore number, plus one; 0: free */
    int64_t sum;
} table[CAPACITY];
static int is_full;

static uint64_t key_of(int set, unsigned number)
{
    return ((uint64_t)(uint32_t)set << 16 | (uint16_t)number) + 1;
}

static void add(uint64_t key, int by)
{
    CKPT_INVARIANT(key != 0); /* 0 is a free place */
    for (uint32_t i = 0; i < CAPACITY; i++) {
        uint64_t found = __atomic_load_n(&table[i].key, __ATOMIC_RELAXED);

        if (found == key ||
            (found == 0 &&
             (__atomic_compare_exchange_n(&table[i].key, &found, key, 0,
                                          __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED) ||
              found == key))) {
            __atomic_add_fetch(&table[i].sum, by, __ATOMIC_RELAXED);
            return;
        }
    }
    is_full = 1;
}

void ckpt_system_v_undo_note(int set, const struct sembuf *operations,
                             size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if ((operations[i].sem_flg & SEM_UNDO) != 0) {
            add(key_of(set, operations[i].sem_num), operations[i].sem_op);
        }
    }
}

void ckpt_system_v_undo_forget(int set, int number)
{
    for (uint32_t i = 0; i < CAPACITY && table[i].key != 0; i++) {
        if (number < 0 ? (table[i].key - 1) >> 16 == (uint32_t)set
                       : table[i].key == key_of(set, (unsigned)number)) {
            __atomic_store_n(&table[i].sum, 0, __ATOMIC_RELAXED);
        }
    }
}

int ckpt_system_v_undo_find(int set)
{
    for (uint32_t i = 0; i < CAPACITY && table[i].key != 0; i++) {
        if ((table[i].key - 1) >> 16 == (uint32_t)set && table[i].sum != 0) {
            return (int)((table[i].key - 1) & 0xffff);
        }
    }
    return is_full ? -2 : -1;
}
