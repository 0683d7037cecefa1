/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system_v.c - a table of the System V objects that the program uses.
 *
 * An entry is written once, by one atomic operation, so a save may find a
 * thread anywhere in here. Objects that have been removed stay in the table;
 * their ids come back only after 2^16 others.
 */
#include "ipc/system_v.h"

#include "sys/syscall.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#define CAPACITY 4096u /* a power of two */

static uint64_t table[CAPACITY]; /* kind << 32 | id; 0: free */
static int is_full;

int ckpt_system_v_note(enum ckpt_system_v_kind kind, int id)
{
    const uint64_t entry = (uint64_t)kind << 32 | (uint32_t)id;
    const uint32_t start = (uint32_t)id * 2654435761u >> 20;

    for (uint32_t i = 0; i < CAPACITY && id >= 0; i++) {
        uint64_t *place = &table[(start + i) % CAPACITY];
        uint64_t found = __atomic_load_n(place, __ATOMIC_RELAXED);

        if (found == entry ||
            (found == 0 &&
             (__atomic_compare_exchange_n(place, &found, entry, 0,
                                          __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED) ||
              found == entry))) {
            return id;
        }
    }
    is_full |= id >= 0;
    return id;
}

/* The key of an object. 1; 0 if it is gone. */
static int find_key(enum ckpt_system_v_kind kind, int id, unsigned *key_p)
{
    union {
        struct shmid_ds memory;
        struct semid_ds semaphores;
        struct msqid_ds queue;
    } status = {0};
    long result;

    switch (kind) {
    case CKPT_SYSTEM_V_MEMORY:
        result = ckpt_syscall3(SYS_shmctl, id, IPC_STAT, (long)&status);
        *key_p = (unsigned)status.memory.shm_perm.__key;
        break;
    case CKPT_SYSTEM_V_SEMAPHORES:
        result = ckpt_syscall4(SYS_semctl, id, 0, IPC_STAT, (long)&status);
        *key_p = (unsigned)status.semaphores.sem_perm.__key;
        break;
    default:
        result = ckpt_syscall3(SYS_msgctl, id, IPC_STAT, (long)&status);
        *key_p = (unsigned)status.queue.msg_perm.__key;
        break;
    }
    return result != -EINVAL && result != -EIDRM;
}

int ckpt_system_v_require_none(struct ckpt_failure *failure)
{
    static const char *const names[] = {
        [CKPT_SYSTEM_V_MEMORY] = "shared memory",
        [CKPT_SYSTEM_V_SEMAPHORES] = "semaphore set",
        [CKPT_SYSTEM_V_QUEUE] = "message queue",
    };

    for (size_t i = 0; i < CAPACITY; i++) {
        const uint64_t entry = table[i];
        const enum ckpt_system_v_kind kind =
            (enum ckpt_system_v_kind)(entry >> 32);
        unsigned key;

        if (entry != 0 && find_key(kind, (int)entry, &key)) {
            return ckpt_fail(failure, -ENOTSUP,
                             "System V %s %d (key 0x%x) cannot be saved",
                             names[kind], (int)entry, (unsigned long)key);
        }
    }
    return is_full ? ckpt_fail(failure, -ENOTSUP,
                               "the program has used too many System V "
                               "objects to know which are left")
                   : 0;
}
