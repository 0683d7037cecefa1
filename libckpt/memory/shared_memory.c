/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_memory.c - recognises mappings of POSIX shared memory and named
 * semaphores.
 */
#include "memory/shared_memory.h"

#include "base/directory.h"
#include "base/text.h"
#include "sys/syscall.h"

#include <limits.h>

#define DIRECTORY "/dev/shm"

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

struct search {
    uint64_t inode;
    char *path;
    size_t capacity;
};

static int is_found(const struct ckpt_directory_entry *entry, void *argument)
{
    const struct search *search = argument;

    if (entry->inode != search->inode) {
        return 0;
    }
    ckpt_text_format(search->path, search->capacity, DIRECTORY "/%s",
                     entry->name);
    return 1;
}

/* Writes the object's path to `path`. Returns 1 if it has one. */
static int find_path(uint64_t inode, char *path, size_t capacity)
{
    struct search search = {inode, path, capacity};

    return ckpt_directory_each(DIRECTORY, is_found, &search) == 1;
}

void ckpt_shared_memory_rename(struct ckpt_arena *arena,
                               struct ckpt_mapping *mapping)
{
    const size_t capacity = sizeof DIRECTORY + NAME_MAX + 1;
    char *path;

    if (!mapping->shared || !is_below(mapping->name) ||
        !ckpt_text_ends(mapping->name, CKPT_TEXT_DELETED)) {
        return;
    }
    path = ckpt_arena_alloc(arena, capacity);
    if (path != NULL && find_path(mapping->inode, path, capacity)) {
        mapping->name = path;
    }
}
