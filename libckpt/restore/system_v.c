/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system_v.c - System V shared memory, recreated under the id that the program
 * knows.
 */
#include "restore/restore.h"

#include "base/invariant.h"
#include "restore/restore_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#define PAGE    4096u
#define NEXT_ID "/proc/sys/kernel/shm_next_id"

static int refuse(int id, key_t key, const char *why,
                  struct ckpt_failure *failure)
{
    return ckpt_refuse(failure, CKPT_REFUSAL_ID_IN_USE, -EEXIST,
                       "System V shared memory %d (key 0x%x) cannot be made "
                       "again: %s",
                       id, (unsigned long)(unsigned)key, why);
}

/* Memory that was marked for removal while it was attached has lost its key. */
static key_t key_of(const char *path, uint32_t mode)
{
    unsigned key = 0;

    if ((mode & SHM_DEST) != 0 || sscanf(path, "/SYSV%8x", &key) != 1) {
        return IPC_PRIVATE;
    }
    return (key_t)key;
}

/* Uses the existing memory with this id. Returns 0, or -EEXIST with the
 * reason. */
static int take_over(int id, key_t key, uint32_t mode, uint64_t size,
                     struct shmid_ds *found, struct ckpt_failure *failure)
{
    if (found->shm_perm.__key != key || found->shm_segsz != size ||
        found->shm_perm.uid != geteuid()) {
        return refuse(id, key, "something else has this id", failure);
    }
    if (found->shm_nattch != 0) {
        return refuse(id, key, "another process has attached it", failure);
    }
    found->shm_perm.mode = mode & 0777;
    if (shmctl(id, IPC_SET, found) != 0) {
        return refuse(id, key, strerror(errno), failure);
    }
    return 0;
}

/* Makes the kernel assign this id next. Returns 0 or -errno. */
static int choose_id(int id)
{
    char text[16];
    int length = snprintf(text, sizeof text, "%d", id);
    int fd = open(NEXT_ID, O_WRONLY | O_CLOEXEC);
    int error = fd < 0 || write(fd, text, (size_t)length) != length ? -errno
                                                                    : 0;

    close(fd);
    return error;
}

int ckpt_restore_make_system_v(const char *path, uint64_t inode, uint32_t mode,
                               uint64_t size, struct ckpt_failure *failure)
{
    const int id = (int)inode;
    const key_t key = key_of(path, mode);
    struct shmid_ds found;
    int made;

    if (shmctl(id, IPC_STAT, &found) == 0) {
        return take_over(id, key, mode, size, &found, failure);
    }
    if (errno != EINVAL && errno != EIDRM) {
        return refuse(id, key, "something else has this id", failure);
    }
    if (choose_id(id) != 0) {
        return refuse(id, key, "on a node that does not have it, only root "
                               "can choose its id",
                      failure);
    }
    made = shmget(key, size, IPC_CREAT | IPC_EXCL | (int)(mode & 0777));
    if (made < 0) {
        return refuse(id, key, strerror(errno), failure);
    }
    if (made != id) {
        shmctl(made, IPC_RMID, NULL);
        return refuse(id, key, "its id is taken", failure);
    }
    return 0;
}

int ckpt_restore_stage_system_v(struct ckpt_restore *restore, size_t index,
                                struct ckpt_failure *failure)
{
    const struct ckpt_region *region = &restore->regions[index];
    const uint64_t size = region->end - region->start;
    const uint64_t whole = (region->device + PAGE - 1) / PAGE * PAGE;
    const uint64_t end = region->file_offset + size;
    int64_t memory;

    if (end > whole) {
        return ckpt_refuse(failure, CKPT_REFUSAL_UNUSABLE_CHECKPOINT, -EINVAL,
                           "region %x-%x is longer than its shared memory",
                           region->start, region->end);
    }
    memory = ckpt_restore_map_somewhere(
        restore, whole, region->start - region->file_offset, PROT_NONE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory < 0 || shmat((int)region->inode, (void *)memory, SHM_REMAP) ==
                          (void *)-1) {
        const int error = memory < 0 ? (int)memory : -errno;

        return ckpt_refuse(failure, CKPT_REFUSAL_ID_IN_USE, error,
                           "System V shared memory %d cannot be attached: %s",
                           (int)region->inode, strerror(-error));
    }
    CKPT_INVARIANT(end > region->file_offset && (uint64_t)memory % PAGE == 0);
    if (region->file_offset > 0) { /* the program had unmapped this part */
        munmap((void *)memory, region->file_offset);
    }
    if (end < whole) {
        munmap((void *)(memory + (int64_t)end), whole - end);
    }
    restore->stages[index].address = (uint64_t)memory + region->file_offset;
    restore->stages[index].protection = PROT_READ | PROT_WRITE;
    return 0;
}
