/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ancestors.c - find the processes that started this one, in /proc.
 */
#include "config.h"
#include "lower/ancestors.h"

#include "base/text.h"
#include "sys/syscall.h"

#include <fcntl.h>

int ckpt_link_target(const char *link, char *target, size_t size)
{
    long length = ckpt_sys_readlink(link, target, size);

    if (length <= 0 || (size_t)length >= size) {
        return 0;
    }
    target[length] = '\0';
    return 1;
}

uint64_t ckpt_parent_of(uint64_t pid)
{
    char path[64], line[512];
    const char *c, *name_end = NULL;
    uint64_t parent = 0;
    long fd, size;

    ckpt_text_format(path, sizeof(path), "/proc/%l/stat", (long)pid);
    fd = ckpt_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        return 0;
    }
    size = ckpt_sys_read((int)fd, line, sizeof(line) - 1);
    ckpt_sys_close((int)fd);
    if (size <= 0) {
        return 0;
    }
    line[size] = '\0';
    /* "pid (name) state parent ...": the name may contain any character. */
    for (c = line; *c != '\0'; c++) {
        if (*c == ')') {
            name_end = c;
        }
    }
    if (name_end != NULL && name_end + 4 < line + size) {
        ckpt_text_decimal(name_end + 4, &parent);
    }
    return parent;
}
