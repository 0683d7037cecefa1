/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * directory.c - the entries of a directory, without libc.
 */
#include "base/directory.h"

#include "sys/syscall.h"

#include <fcntl.h>
#include <stdint.h>

struct entry { /* of getdents64 */
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[];
};

int ckpt_directory_each(const char *path,
                        int (*visit)(const char *name, void *argument),
                        void *argument)
{
    char buffer[4096] __attribute__((aligned(8)));
    int fd = (int)ckpt_sys_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    int result = 0;
    long size;

    if (fd < 0) {
        return fd;
    }
    do {
        size = ckpt_sys_getdents64(fd, buffer, sizeof(buffer));
        for (long at = 0; at < size && result == 0;) {
            const struct entry *entry = (const struct entry *)(buffer + at);

            result = visit(entry->name, argument);
            at += entry->size;
        }
    } while (size > 0 && result == 0);
    ckpt_sys_close(fd);
    return result != 0 ? result : (int)size;
}
