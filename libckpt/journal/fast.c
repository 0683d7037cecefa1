/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fast.c - quickly detects calls that change nothing that the journal records.
 *
 * Uses general registers only, no lock, no system call.
 */
#include "journal/call.h"
#include "journal/concealed.h"
#include "journal/descriptor.h"
#include "journal/log/record_locks.h"
#include "journal/log/undo_log.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>

struct ckpt_descriptor ckpt_descriptors[CKPT_DESCRIPTOR_CAPACITY];

/* Returns the kind of a descriptor if it is still valid, else 0. */
CKPT_GENERAL_REGISTERS static uint32_t
kind_of(const struct ckpt_descriptor *entry)
{
    if (entry == NULL) {
        return 0;
    }
    return entry->kind == CKPT_DESCRIPTOR_OTHER ||
                   entry->generation == (uint32_t)ckpt_journal_generation
               ? entry->kind
               : 0;
}

CKPT_GENERAL_REGISTERS static int forget(int64_t fd)
{
    struct ckpt_descriptor *entry = ckpt_descriptor_entry(fd);

    if (entry != NULL) {
        entry->kind = 0;
    }
    return (entry != NULL && entry->flags != 0) ||
           ckpt_undo_owns_descriptor((int)fd) ||
           ckpt_concealed_owns_descriptor((int)fd);
}

CKPT_GENERAL_REGISTERS static int forget_range(uint64_t first, uint64_t last)
{
    if (last >= CKPT_DESCRIPTOR_CAPACITY) {
        last = CKPT_DESCRIPTOR_CAPACITY - 1;
    }
    for (; first <= last; first++) {
        if (ckpt_descriptors[first].kind != 0) {
            ckpt_descriptors[first].kind = 0;
        }
    }
    return 1;
}

/* The new position may be before the old size. */
CKPT_GENERAL_REGISTERS static int seek(int64_t fd)
{
    struct ckpt_descriptor *entry = ckpt_descriptor_entry(fd);

    if (entry != NULL && entry->kind == CKPT_DESCRIPTOR_BEHIND) {
        entry->kind = 0;
    }
    return entry != NULL && entry->flags != 0;
}

CKPT_GENERAL_REGISTERS static int write_at_position(int64_t fd)
{
    return kind_of(ckpt_descriptor_entry(fd)) == 0;
}

CKPT_GENERAL_REGISTERS static int write_at(int64_t fd, int64_t offset)
{
    const struct ckpt_descriptor *entry = ckpt_descriptor_entry(fd);
    const uint32_t kind = kind_of(entry);

    return kind == 0 || (kind == CKPT_DESCRIPTOR_BEHIND &&
                         (offset < 0 || (uint64_t)offset < entry->size));
}

CKPT_GENERAL_REGISTERS static int change(int64_t fd)
{
    const uint32_t kind = kind_of(ckpt_descriptor_entry(fd));

    return kind != CKPT_DESCRIPTOR_OTHER && kind != CKPT_DESCRIPTOR_FREE;
}

CKPT_GENERAL_REGISTERS static int is_first_record_lock(int command)
{
    return (command == F_SETLK || command == F_SETLKW) && !ckpt_record_locks_are_used;
}

CKPT_GENERAL_REGISTERS int ckpt_journal_fast(const struct ckpt_journal_call *call)
{
    switch (call->site->number) {
    case SYS_write:
    case SYS_writev:
    case SYS_sendfile:
        return write_at_position(call->rdi);
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_pwritev2:
        return write_at(call->rdi, call->r10);
    case SYS_close:
        return forget(call->rdi);
    case SYS_dup2:
    case SYS_dup3:
        return forget(call->rsi);
    case SYS_close_range:
        return forget_range((uint64_t)call->rdi, (uint64_t)call->rsi);
    case SYS_lseek:
        return seek(call->rdi);
    case SYS_fcntl:
        return is_first_record_lock((int)call->rsi);
    case SYS_ftruncate:
    case SYS_fallocate:
    case SYS_fchmod:
    case SYS_fchown:
        return change(call->rdi);
    default:
        return 1;
    }
}
