/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptor.h - keep our descriptors out of the application's way.
 */
#ifndef CKPT_DESCRIPTOR_H
#define CKPT_DESCRIPTOR_H

#include "sys/syscall.h"

#include <fcntl.h>

/* Ours stand above those of the application, like the lower half's. */
#define CKPT_DESCRIPTOR_FLOOR 700

/* Moves a new descriptor up, close-on-exec. Under a low limit on descriptors
 * it stays where it is. Passes -errno through. Context: any. */
static inline int ckpt_descriptor_raise(int fd)
{
    long high;

    if (fd < 0) {
        return fd;
    }
    high = ckpt_sys_fcntl(fd, F_DUPFD_CLOEXEC, CKPT_DESCRIPTOR_FLOOR);
    if (high < 0) {
        return fd;
    }
    ckpt_sys_close(fd);
    return (int)high;
}

#endif
