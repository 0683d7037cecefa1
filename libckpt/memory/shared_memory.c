/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_memory.c - objects of POSIX shared memory, and named semaphores, among
 * the mappings.
 */
#include "memory/shared_memory.h"

#include "base/text.h"
#include "sys/syscall.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>

#define DIRECTORY "/dev/shm"
#define DELETED " (deleted)"

static int is_below(const char *name)
{
    return ckpt_text_starts(name, DIRECTORY "/");
}

int ckpt_is_shared_memory(const struct ckpt_mapping *mapping,
                          const struct stat *status)
{
    return is_below(mapping->name) &&
           status->st_uid == (uid_t)ckpt_syscall3(SYS_geteuid, 0, 0, 0);
}

static int is_deleted(const char *name)
{
    const size_t length = ckpt_text_length(name);

    return length >= sizeof DELETED - 1 &&
           ckpt_text_equal(name + length - (sizeof DELETED - 1), DELETED);
}

/* The name of an inode among `size` bytes of a directory's entries, or NULL. */
static const char *name_among(const char *entries, long size, uint64_t inode)
{
    for (long at = 0; at < size;) {
        const struct dirent64 *entry = (const void *)(entries + at);

        if (entry->d_ino == inode) {
            return entry->d_name;
        }
        at += entry->d_reclen;
    }
    return NULL;
}

/* Puts the object's path into `path`; 1 if it has one. */
static int find_path(uint64_t inode, char *path, size_t capacity)
{
    char entries[4096] __attribute__((aligned(8)));
    const char *name = NULL;
    long size;
    int fd = (int)ckpt_sys_open(DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                                0);

    if (fd < 0) {
        return 0;
    }
    do {
        size = ckpt_sys_getdents64(fd, entries, sizeof entries);
        name = name_among(entries, size, inode);
    } while (size > 0 && name == NULL);
    if (name != NULL) {
        ckpt_text_format(path, capacity, DIRECTORY "/%s", name);
    }
    ckpt_sys_close(fd);
    return name != NULL;
}

void ckpt_shared_memory_rename(struct ckpt_arena *arena,
                               struct ckpt_mapping *mapping)
{
    const size_t capacity = sizeof DIRECTORY + NAME_MAX + 1;
    char *path;

    if (!mapping->shared || !is_below(mapping->name) ||
        !is_deleted(mapping->name)) {
        return;
    }
    path = ckpt_arena_alloc(arena, capacity);
    if (path != NULL && find_path(mapping->inode, path, capacity)) {
        mapping->name = path;
    }
}
