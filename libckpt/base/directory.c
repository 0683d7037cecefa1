/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * directory.c - the entries of a directory, without libc.
 */
#include "base/directory.h"

#include "base/invariant.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>

struct raw_entry { /* as getdents64() returns it */
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[];
};

_Static_assert(offsetof(struct raw_entry, name) == 19, "layout of the kernel's entry");

int ckpt_directory_each(const char *path,
                        ckpt_directory_visit *visit, void *argument)
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
        CKPT_INVARIANT(size <= (long)sizeof(buffer));
        for (long at = 0; at < size && result == 0;) {
            const struct raw_entry *raw =
                (const struct raw_entry *)(buffer + at);
            const struct ckpt_directory_entry entry = {raw->name, raw->inode,
                                                       fd};

            if (!CKPT_INVARIANT(raw->size > offsetof(struct raw_entry, name) &&
                                raw->size <= size - at)) {
                result = -EPROTO;
                break;
            }
            result = visit(&entry, argument);
            at += raw->size;
        }
    } while (size > 0 && result == 0);
    ckpt_sys_close(fd);
    return result != 0 ? result : (int)size;
}
