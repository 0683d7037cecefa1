/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * robust.c - walks a thread's list of robust mutexes as the kernel does (kernel/futex:
 * exit_robust_list()).
 *
 * The list belongs to the program and may be broken. So it is read through the kernel, which
 * then returns an error instead of ending the process.
 */
#include "task/robust.h"

#include "sys/syscall.h"
#include "task/threads.h"

#include <linux/futex.h>
#include <stdint.h>
#include <sys/uio.h>

#define PRIORITY_INHERITANCE 1u /* flag in the pointer to an entry */

/* Returns 1 if all bytes can be read. */
static int read_at(uint64_t address, void *to, size_t size)
{
    struct iovec local = {to, size}, remote = {(void *)address, size};

    return ckpt_syscall6(SYS_process_vm_readv, ckpt_sys_getpid(), (long)&local, 1,
                         (long)&remote, 1, 0) == (long)size;
}

/* Handles one mutex. is_pending: the thread was about to lock or unlock it. */
static void leave(uint64_t entry, long offset, uint32_t id, int is_pending)
{
    const uint64_t address = (entry & ~(uint64_t)PRIORITY_INHERITANCE) + (uint64_t)offset;
    volatile uint32_t *word = (volatile uint32_t *)address;
    uint32_t value;

    if ((entry & PRIORITY_INHERITANCE) != 0 || address % sizeof *word != 0 ||
        !read_at(address, &value, sizeof value)) {
        return;
    }
    if (is_pending && value == 0) { /* unlocked; possibly the thread has not woken a waiter yet */
        (void)ckpt_sys_futex(word, FUTEX_WAKE, 1, NULL);
        return;
    }
    while ((value & FUTEX_TID_MASK) == id) {
        const uint32_t left = (value & FUTEX_WAITERS) | FUTEX_OWNER_DIED;

        if (__atomic_compare_exchange_n(word, &value, left, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            if ((value & FUTEX_WAITERS) != 0) {
                (void)ckpt_sys_futex(word, FUTEX_WAKE, 1, NULL);
            }
            return;
        }
    }
}

void ckpt_robust_abandon(void)
{
    const uint32_t id = (uint32_t)ckpt_threads_remembered_of(ckpt_sys_gettid());
    struct robust_list_head head;
    void *list = NULL;
    size_t size = 0;
    uint64_t entry, pending;
    int left = ROBUST_LIST_LIMIT;

    if (ckpt_sys_get_robust_list(0, &list, &size) != 0 || size != sizeof head ||
        !read_at((uint64_t)list, &head, sizeof head)) {
        return;
    }
    pending = (uint64_t)head.list_op_pending;
    entry = (uint64_t)head.list.next;
    while ((entry & ~(uint64_t)PRIORITY_INHERITANCE) != (uint64_t)list && left-- > 0) {
        uint64_t next;

        if (!read_at(entry & ~(uint64_t)PRIORITY_INHERITANCE, &next, sizeof next)) {
            break;
        }
        if (entry != pending) {
            leave(entry, head.futex_offset, id, 0);
        }
        entry = next;
    }
    if (pending != 0) {
        leave(pending, head.futex_offset, id, 1);
    }
}
