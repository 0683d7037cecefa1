/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system_v.c - note the System V objects that a program uses, both those that
 * it made and those whose ids it was told. Each call goes on to libc;
 * semtimedop() is in timed_call.c.
 *
 * Context of all functions: normal, or a signal handler.
 */
#include "config.h"

#include "interpose/next.h"
#include "ipc/system_v.h"
#include "ipc/system_v_undo.h"

#include <stdarg.h>
#include <stddef.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

CKPT_INTERPOSE int shmget(key_t key, size_t size, int flags)
{
    return ckpt_system_v_note(CKPT_SYSTEM_V_MEMORY,
                              CKPT_NEXT(shmget)(key, size, flags));
}

CKPT_INTERPOSE void *shmat(int id, const void *address, int flags)
{
    ckpt_system_v_note(CKPT_SYSTEM_V_MEMORY, id);
    return CKPT_NEXT(shmat)(id, address, flags);
}

CKPT_INTERPOSE int semget(key_t key, int count, int flags)
{
    return ckpt_system_v_note(CKPT_SYSTEM_V_SEMAPHORES,
                              CKPT_NEXT(semget)(key, count, flags));
}

CKPT_INTERPOSE int semop(int set, struct sembuf *operations, size_t count)
{
    int result;

    ckpt_system_v_note(CKPT_SYSTEM_V_SEMAPHORES, set);
    result = CKPT_NEXT(semop)(set, operations, count);
    if (result == 0) {
        ckpt_system_v_undo_note(set, operations, count);
    }
    return result;
}

/* The fourth argument is a union that is passed like a pointer. The command
 * determines whether it exists. */
CKPT_INTERPOSE int semctl(int set, int number, int command, ...)
{
    va_list arguments;
    void *argument;
    int result;

    va_start(arguments, command);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    if (command != SEM_STAT && command != SEM_STAT_ANY &&
        command != SEM_INFO && command != IPC_INFO) {
        ckpt_system_v_note(CKPT_SYSTEM_V_SEMAPHORES, set);
    }
    result = CKPT_NEXT(semctl)(set, number, command, argument);
    if (result >= 0 && (command == SETVAL || command == SETALL)) {
        ckpt_system_v_undo_forget(set, command == SETVAL ? number : -1);
    }
    return result;
}

CKPT_INTERPOSE int msgget(key_t key, int flags)
{
    return ckpt_system_v_note(CKPT_SYSTEM_V_QUEUE,
                              CKPT_NEXT(msgget)(key, flags));
}

CKPT_INTERPOSE int msgsnd(int queue, const void *message, size_t size,
                          int flags)
{
    ckpt_system_v_note(CKPT_SYSTEM_V_QUEUE, queue);
    return CKPT_NEXT(msgsnd)(queue, message, size, flags);
}

CKPT_INTERPOSE ssize_t msgrcv(int queue, void *message, size_t size, long type,
                              int flags)
{
    ckpt_system_v_note(CKPT_SYSTEM_V_QUEUE, queue);
    return CKPT_NEXT(msgrcv)(queue, message, size, type, flags);
}
