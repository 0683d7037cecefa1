/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system_v.c - a table of the System V objects that the program uses.
 *
 * One atomic operation writes an entry, so a save may find a thread anywhere in
 * this code. Removed objects stay in the table; the kernel reuses an id only
 * after 2^16 others.
 */
#include "ipc/system_v.h"

#include "base/invariant.h"
#include "base/text.h"
#include "ipc/system_v_objects.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <time.h>

#define CAPACITY    4096u /* a power of two */
#define NANOSECONDS 1000000000
_Static_assert(CAPACITY == 1u << (32 - 20), "a hash is a place in the table");

static uint64_t table[CAPACITY]; /* kind << 32 | id; 0: free */
static int is_full;

static struct ckpt_system_v_object *saved; /* objects of the last save, in its
                                              arena */
static size_t saved_count;
static struct ckpt_system_v_place saved_at;

int ckpt_system_v_note(enum ckpt_system_v_kind kind, int id)
{
    const uint64_t entry = (uint64_t)kind << 32 | (uint32_t)id;
    const uint32_t start = (uint32_t)id * 2654435761u >> 20;

    CKPT_INVARIANT(kind >= CKPT_SYSTEM_V_MEMORY && kind <= CKPT_SYSTEM_V_QUEUE);
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

static enum ckpt_system_v_kind kind_of(uint64_t entry)
{
    return (enum ckpt_system_v_kind)(entry >> 32);
}

static int is_of(const struct ckpt_region *region, int id)
{
    return region->kind == CKPT_REGION_SHARED &&
           region->inode == (CKPT_REGION_SYSTEM_V | (uint32_t)id);
}

static int is_attached(const struct ckpt_region *regions, size_t count, int id)
{
    for (size_t i = 0; i < count; i++) {
        if (is_of(&regions[i], id)) {
            return 1;
        }
    }
    return 0;
}

int ckpt_system_v_describe(int id, struct ckpt_region *region,
                           struct ckpt_failure *failure)
{
    struct shmid_ds status = {0};
    long result = ckpt_syscall3(SYS_shmctl, id, IPC_STAT, (long)&status);

    if (result < 0) {
        return ckpt_fail(failure, (int)result,
                         "System V shared memory %d cannot be saved: error %l",
                         id, -result);
    }
    region->kind = CKPT_REGION_SHARED;
    region->inode = CKPT_REGION_SYSTEM_V | (uint32_t)id;
    region->device = status.shm_segsz;
    region->mode = status.shm_perm.mode & (SHM_DEST | 0777);
    return 0;
}

void ckpt_system_v_settle(const struct ckpt_region *regions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const int id = (int)regions[i].inode;

        if (is_of(&regions[i], id) && (regions[i].mode & SHM_DEST) != 0) {
            (void)ckpt_syscall3(SYS_shmctl, id, IPC_RMID, 0);
        }
    }
}

int ckpt_system_v_require_attached(const struct ckpt_region *regions,
                                   size_t count, struct ckpt_failure *failure)
{
    for (size_t i = 0; i < CAPACITY; i++) {
        const int id = (int)table[i];
        struct shmid_ds status = {0};
        long result;

        CKPT_INVARIANT(kind_of(table[i]) <= CKPT_SYSTEM_V_QUEUE);
        if (kind_of(table[i]) != CKPT_SYSTEM_V_MEMORY ||
            is_attached(regions, count, id)) {
            continue;
        }
        result = ckpt_syscall3(SYS_shmctl, id, IPC_STAT, (long)&status);
        if (result != -EINVAL && result != -EIDRM) {
            return ckpt_refuse(failure, CKPT_REFUSAL_UNSAVABLE_SYSTEM_V, -ENOTSUP,
                               "System V shared memory %d (key 0x%x) cannot be "
                               "saved: it is not attached",
                               id,
                               (unsigned long)(unsigned)status.shm_perm.__key);
        }
    }
    return is_full ? ckpt_refuse(failure, CKPT_REFUSAL_TOO_MANY_OBJECTS, -ENOTSUP,
                                 "the program has used too many System V "
                                 "objects to know which are left")
                   : 0;
}

/* ---- Semaphores and queues ----------------------------------------------- */

static size_t count_noted(void)
{
    size_t count = 0;

    for (size_t i = 0; i < CAPACITY; i++) {
        count += kind_of(table[i]) > CKPT_SYSTEM_V_MEMORY;
    }
    return count;
}

int ckpt_system_v_save(struct ckpt_arena *arena, struct ckpt_failure *failure)
{
    const size_t noted = count_noted();
    struct timespec now;
    int error = 0;

    ckpt_sys_clock_gettime(CLOCK_MONOTONIC, &now);
    saved_count = 0;
    saved = noted == 0 ? NULL : ckpt_arena_alloc(arena, noted * sizeof *saved);
    if (noted > 0 && saved == NULL) {
        return ckpt_fail(failure, -ENOMEM, "no room for System V objects");
    }
    for (size_t i = 0; i < CAPACITY && error == 0; i++) {
        const enum ckpt_system_v_kind kind = kind_of(table[i]);

        if (kind > CKPT_SYSTEM_V_MEMORY) {
            if (!CKPT_INVARIANT(saved_count < noted)) { /* no thread runs that could note one */
                return ckpt_unsound_refuse(failure);
            }
            error = (kind == CKPT_SYSTEM_V_QUEUE
                         ? ckpt_system_v_save_queue
                         : ckpt_system_v_save_semaphores)(
                arena, (int)table[i], &saved[saved_count], failure);
            saved_count += saved[saved_count].kind != 0;
        }
    }
    saved_at.node = saved_count > 0 ? ckpt_system_v_node() : 0;
    saved_at.time = now.tv_sec * NANOSECONDS + now.tv_nsec;
    return error;
}

struct ckpt_system_v_place ckpt_system_v_saved_at(void)
{
    return saved_at;
}

static uint64_t hash(uint64_t value, const char *text, long size)
{
    for (long i = 0; i < size; i++) { /* FNV-1a */
        value = (value ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    }
    return value;
}

uint64_t ckpt_system_v_node(void)
{
    uint64_t value = UINT64_C(0xcbf29ce484222325);
    char text[64];
    int fd = (int)ckpt_sys_open("/proc/sys/kernel/random/boot_id",
                                O_RDONLY | O_CLOEXEC, 0);

    if (fd >= 0) {
        value = hash(value, text, ckpt_sys_read(fd, text, sizeof text));
        ckpt_sys_close(fd);
    }
    return hash(value, text,
                ckpt_sys_readlink("/proc/self/ns/ipc", text, sizeof text));
}

static int find(const struct ckpt_system_v_object *object, int64_t since)
{
    return object->kind == CKPT_SYSTEM_V_QUEUE
               ? ckpt_system_v_find_queue(object, since)
               : ckpt_system_v_find_semaphores(object, since);
}

/* Makes the kernel assign this id to the next object. Returns 0 or -errno. */
static long choose_id(const struct ckpt_system_v_object *object)
{
    const char *path = object->kind == CKPT_SYSTEM_V_QUEUE
                           ? "/proc/sys/kernel/msg_next_id"
                           : "/proc/sys/kernel/sem_next_id";
    char text[16];
    const size_t size = ckpt_text_format(text, sizeof text, "%d", object->id);
    long fd = ckpt_sys_open(path, O_WRONLY | O_CLOEXEC, 0), result = fd;

    if (fd >= 0) {
        result = ckpt_sys_write((int)fd, text, size);
        ckpt_sys_close((int)fd);
    }
    return result < 0 ? result : 0;
}

/* Creates the object. Returns its id, or -errno. */
static long make(const struct ckpt_system_v_object *object)
{
    const int flags = IPC_CREAT | IPC_EXCL | (int)object->mode;

    return object->kind == CKPT_SYSTEM_V_QUEUE
               ? ckpt_syscall3(SYS_msgget, object->key, flags, 0)
               : ckpt_syscall3(SYS_semget, object->key, (long)object->count,
                               flags);
}

static void discard(const struct ckpt_system_v_object *object, int id)
{
    if (object->kind == CKPT_SYSTEM_V_QUEUE) {
        (void)ckpt_syscall3(SYS_msgctl, id, IPC_RMID, 0);
    } else {
        (void)ckpt_syscall4(SYS_semctl, id, 0, IPC_RMID, 0);
    }
}

/* Makes sure that the object exists under its id. Returns NULL, or the reason
 * for the failure. */
static const char *provide(const struct ckpt_system_v_object *object,
                           int64_t since)
{
    const int found = find(object, since);
    long made;

    if (found != 0) {
        return found > 0 ? NULL : "something else has its id";
    }
    if (choose_id(object) != 0) {
        return "on a node that does not have it, only root can choose its id";
    }
    made = make(object);
    if (made >= 0 && made != object->id) {
        discard(object, (int)made);
    }
    return made == object->id ? NULL
           : made == -EEXIST  ? "something else has its key"
           : made < 0         ? "the kernel refuses it"
                              : "its id is taken";
}

static int restore_one(const struct ckpt_system_v_object *object, int64_t since,
                       struct ckpt_failure *failure)
{
    const int is_queue = object->kind == CKPT_SYSTEM_V_QUEUE;
    const char *reason = provide(object, since);

    if (reason == NULL && (is_queue ? ckpt_system_v_fill_queue
                                    : ckpt_system_v_fill_semaphores)(object) !=
                              0) {
        reason = "it cannot be filled";
    }
    return reason == NULL
               ? 0
               : ckpt_refuse(failure, CKPT_REFUSAL_ID_IN_USE, -EEXIST,
                             "System V %s %d (key 0x%x) cannot be made again: %s",
                             is_queue ? "message queue" : "semaphore set",
                             object->id, (unsigned long)(unsigned)object->key,
                             reason);
}

int ckpt_system_v_restore(int64_t since, struct ckpt_failure *failure)
{
    int error = 0;

    CKPT_INVARIANT(saved_count == 0 || saved != NULL);
    for (size_t i = 0; i < saved_count && error == 0; i++) {
        error = restore_one(&saved[i], since, failure);
    }
    return error;
}
