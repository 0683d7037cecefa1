/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptor_room.c - makes room for the temporary descriptors of a checkpoint.
 */
#include "process/descriptor_room.h"

#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>

#define NEEDED 4 /* descriptors open at the same time */

static struct rlimit programs; /* the program's limit, while ours is in force */
static int is_raised;

/* Returns 1 if the process can open NEEDED more descriptors. */
static int is_room(void)
{
    int fds[NEEDED];
    int count = 0, room = 1;

    while (count < NEEDED && room) {
        const long fd = ckpt_sys_open("/proc/self", O_PATH | O_CLOEXEC, 0);

        room = fd != -EMFILE;
        if (fd < 0) {
            break;
        }
        fds[count++] = (int)fd;
    }
    while (count > 0) {
        (void)ckpt_sys_close(fds[--count]);
    }
    return room;
}

void ckpt_descriptor_room_make(void)
{
    struct rlimit raised;

    if (is_raised || is_room() ||
        ckpt_syscall3(SYS_getrlimit, RLIMIT_NOFILE, (long)&programs, 0) != 0) {
        return;
    }
    raised = programs;
    raised.rlim_cur = raised.rlim_max;
    is_raised = ckpt_syscall3(SYS_setrlimit, RLIMIT_NOFILE, (long)&raised, 0) == 0;
}

void ckpt_descriptor_room_leave(void)
{
    if (is_raised) {
        (void)ckpt_syscall3(SYS_setrlimit, RLIMIT_NOFILE, (long)&programs, 0);
        is_raised = 0;
    }
}

void ckpt_descriptor_room_gone(void)
{
    is_raised = 0;
}

void ckpt_descriptor_room_correct(struct rlimit *limit)
{
    if (is_raised) {
        *limit = programs;
    }
}
