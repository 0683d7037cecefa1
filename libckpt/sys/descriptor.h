/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptor.h - keeps our descriptors away from the application's.
 */
#ifndef CKPT_DESCRIPTOR_H
#define CKPT_DESCRIPTOR_H

#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

/* Our descriptors are above those of the application, like the lower half's. */
#define CKPT_DESCRIPTOR_FLOOR 700

/* For a program that has lowered its limit on descriptors: raises the limit to the maximum for
 * the duration of the call. Returns the new descriptor or -errno. */
static inline long ckpt_descriptor_above_limit(int fd)
{
    struct rlimit limit, raised;
    long high;

    if (ckpt_syscall3(SYS_getrlimit, RLIMIT_NOFILE, (long)&limit, 0) != 0) {
        return -EINVAL;
    }
    raised = (struct rlimit){limit.rlim_max, limit.rlim_max};
    if (limit.rlim_cur == raised.rlim_cur ||
        ckpt_syscall3(SYS_setrlimit, RLIMIT_NOFILE, (long)&raised, 0) != 0) {
        return -EINVAL;
    }
    high = ckpt_sys_fcntl(fd, F_DUPFD_CLOEXEC, CKPT_DESCRIPTOR_FLOOR);
    (void)ckpt_syscall3(SYS_setrlimit, RLIMIT_NOFILE, (long)&limit, 0);
    return high;
}

/* Moves a new descriptor up, close-on-exec. If the limit does not allow such a number, the
 * descriptor keeps its own. Passes -errno through. Context: any. */
static inline int ckpt_descriptor_raise(int fd)
{
    long high;

    if (fd < 0) {
        return fd;
    }
    high = ckpt_sys_fcntl(fd, F_DUPFD_CLOEXEC, CKPT_DESCRIPTOR_FLOOR);
    if (high < 0) {
        high = ckpt_descriptor_above_limit(fd);
    }
    if (high < 0) {
        return fd;
    }
    ckpt_sys_close(fd);
    return (int)high;
}

#endif
