/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record_locks.c - opens and closes files of the program without releasing its locks.
 */
#include "journal/log/record_locks.h"

#include "base/descriptor_info.h"
#include "process/apart.h"

#include <stddef.h>
#include <string.h>

int ckpt_record_locks_are_used;

/* A lock shows in fdinfo as "lock:\t1: POSIX  ADVISORY  WRITE 4711 fe:00:1234 0 EOF". */
void ckpt_record_locks_find(int fd)
{
    static char info[4096];

    if (ckpt_descriptor_info(fd, info, sizeof(info)) != 0 || strstr(info, ": POSIX") != NULL) {
        ckpt_record_locks_are_used = 1;
    }
}

int ckpt_record_locks_spare(int (*work)(void *argument), void *argument)
{
    static char stack[CKPT_APART_STACK_SIZE] __attribute__((aligned(16)));

    return ckpt_record_locks_are_used
               ? ckpt_run_apart(work, argument, stack + sizeof(stack))
               : work(argument);
}
