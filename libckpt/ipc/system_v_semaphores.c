/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system_v_semaphores.c - semaphore sets: saves and restores their values.
 */
#include "ipc/system_v_objects.h"

#include "ipc/system_v_undo.h"
#include "sys/syscall.h"

#include <errno.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/syscall.h>

static long control(int id, int command, void *argument)
{
    return ckpt_syscall4(SYS_semctl, id, 0, command, (long)argument);
}

static int check_undo(int id, struct ckpt_failure *failure)
{
    const int number = ckpt_system_v_undo_find(id);

    return number == -1 ? 0
                        : ckpt_refuse(failure, CKPT_REFUSAL_UNSAVABLE_SYSTEM_V, -ENOTSUP,
                                      "System V semaphore set %d cannot be "
                                      "saved: operations on it are to be undone "
                                      "at the end (SEM_UNDO)",
                                      id);
}

int ckpt_system_v_save_semaphores(struct ckpt_arena *arena, int id,
                                  struct ckpt_system_v_object *object,
                                  struct ckpt_failure *failure)
{
    struct semid_ds status = {0};
    long result = control(id, IPC_STAT, &status);

    *object = (struct ckpt_system_v_object){.id = id};
    if (result == -EINVAL || result == -EIDRM) {
        return 0;
    }
    object->kind = CKPT_SYSTEM_V_SEMAPHORES;
    object->key = status.sem_perm.__key;
    object->mode = status.sem_perm.mode & 0777;
    object->count = status.sem_nsems;
    object->content = ckpt_arena_alloc(arena, object->count * 2 + 2);
    if (result == 0 && object->content == NULL) {
        result = -ENOMEM;
    }
    if (result == 0) {
        result = control(id, GETALL, object->content);
    }
    if (result < 0) {
        return ckpt_fail(failure, (int)result,
                         "System V semaphore set %d cannot be saved: error %l",
                         id, -result);
    }
    return check_undo(id, failure);
}

int ckpt_system_v_find_semaphores(const struct ckpt_system_v_object *object,
                                  int64_t since)
{
    struct semid_ds status = {0};
    long result = control(object->id, IPC_STAT, &status);

    if (result == -EINVAL || result == -EIDRM) {
        return 0;
    }
    return result == 0 && status.sem_perm.__key == object->key &&
                   status.sem_nsems == object->count &&
                   status.sem_perm.uid ==
                       (uid_t)ckpt_syscall3(SYS_geteuid, 0, 0, 0) &&
                   status.sem_ctime >= since
               ? 1
               : -1;
}

int ckpt_system_v_fill_semaphores(const struct ckpt_system_v_object *object)
{
    return (int)control(object->id, SETALL, object->content);
}
