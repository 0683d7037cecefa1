/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system_v_queue.c - message queues: saves and restores their messages.
 */
#include "ipc/system_v_objects.h"

#include "base/invariant.h"
#include "sys/syscall.h"

#include <errno.h>
#include <stddef.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/syscall.h>

#ifndef MSG_COPY
#define MSG_COPY 040000 /* takes an index instead of a type, and leaves the \
                           message in the queue */
#endif

_Static_assert(offsetof(struct ckpt_system_v_message, bytes) ==
                   offsetof(struct ckpt_system_v_message, type) + sizeof(long),
               "msgsnd() finds the bytes directly after the type");

/* Returns the bytes that a message occupies in memory, with its header and
 * padding. */
static uint64_t room_of(uint64_t size)
{
    return (sizeof(struct ckpt_system_v_message) + size + 7) & ~UINT64_C(7);
}

static long receive(int id, struct ckpt_system_v_message *message,
                    uint64_t capacity, long which, int flags)
{
    return ckpt_syscall6(SYS_msgrcv, id, (long)&message->type, (long)capacity,
                         which, flags | IPC_NOWAIT, 0);
}

static long copy_messages(struct ckpt_system_v_object *object, uint64_t bytes)
{
    char *place = object->content;

    for (uint64_t i = 0; i < object->count; i++) {
        struct ckpt_system_v_message *message = (void *)place;
        long size = receive(object->id, message, bytes, (long)i, MSG_COPY);

        if (size < 0) {
            return size;
        }
        CKPT_INVARIANT((uint64_t)size <= bytes && (uintptr_t)place % 8 == 0);
        message->size = (uint64_t)size;
        bytes -= (uint64_t)size;
        place += room_of((uint64_t)size);
    }
    return 0;
}

int ckpt_system_v_save_queue(struct ckpt_arena *arena, int id,
                             struct ckpt_system_v_object *object,
                             struct ckpt_failure *failure)
{
    struct msqid_ds status = {0};
    long result = ckpt_syscall3(SYS_msgctl, id, IPC_STAT, (long)&status);

    *object = (struct ckpt_system_v_object){.id = id};
    if (result == -EINVAL || result == -EIDRM) {
        return 0;
    }
    object->kind = CKPT_SYSTEM_V_QUEUE;
    object->key = status.msg_perm.__key;
    object->mode = status.msg_perm.mode & 0777;
    object->count = status.msg_qnum;
    object->limit = status.msg_qbytes;
    object->content = ckpt_arena_alloc(
        arena, object->count * room_of(8) + status.__msg_cbytes + 8);
    if (result == 0 && object->content == NULL) {
        result = -ENOMEM;
    }
    if (result == 0) {
        result = copy_messages(object, status.__msg_cbytes);
    }
    return result == 0 ? 0
                       : ckpt_fail(failure, (int)result,
                                   "System V message queue %d cannot be "
                                   "saved: error %l",
                                   id, -result);
}

int ckpt_system_v_find_queue(const struct ckpt_system_v_object *object,
                             int64_t since)
{
    struct msqid_ds status = {0};
    long result = ckpt_syscall3(SYS_msgctl, object->id, IPC_STAT,
                                (long)&status);

    if (result == -EINVAL || result == -EIDRM) {
        return 0;
    }
    return result == 0 && status.msg_perm.__key == object->key &&
                   status.msg_perm.uid ==
                       (uid_t)ckpt_syscall3(SYS_geteuid, 0, 0, 0) &&
                   status.msg_ctime >= since
               ? 1
               : -1;
}

/* Removes all messages from the queue. Returns 0 or -errno. */
static long empty(int id)
{
    union {
        struct ckpt_system_v_message message;
        char room[4096];
    } buffer;
    long result;

    do {
        result = receive(id, &buffer.message,
                         sizeof buffer - sizeof buffer.message, 0,
                         MSG_NOERROR);
    } while (result >= 0);
    return result == -ENOMSG ? 0 : result;
}

static long set_limit(const struct ckpt_system_v_object *object)
{
    struct msqid_ds status = {0};
    long result = ckpt_syscall3(SYS_msgctl, object->id, IPC_STAT,
                                (long)&status);

    if (result != 0 || status.msg_qbytes == object->limit) {
        return result;
    }
    status.msg_qbytes = object->limit;
    return ckpt_syscall3(SYS_msgctl, object->id, IPC_SET, (long)&status);
}

int ckpt_system_v_fill_queue(const struct ckpt_system_v_object *object)
{
    const char *place = object->content;
    long result = empty(object->id);

    if (result == 0) {
        result = set_limit(object);
    }
    for (uint64_t i = 0; i < object->count && result == 0; i++) {
        const struct ckpt_system_v_message *message = (const void *)place;

        result = ckpt_syscall4(SYS_msgsnd, object->id, (long)&message->type,
                               (long)message->size, IPC_NOWAIT);
        place += room_of(message->size);
    }
    return (int)result;
}
