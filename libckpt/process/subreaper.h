/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * subreaper.h - keeps our orphans away from a program that adopts orphans
 * (PR_SET_CHILD_SUBREAPER).
 *
 * A process that we start becomes an orphan when the intermediate process has ended. The
 * program would find it among its children, wait for it, and refuse checkpoints because of it.
 * Limit: the program misses an orphan of its own that appears in that moment.
 */
#ifndef CKPT_SUBREAPER_H
#define CKPT_SUBREAPER_H

#include "sys/syscall.h"

#include <sys/prctl.h>

/* Call it before the intermediate process is created. Returns whether the program adopts
 * orphans, for ckpt_subreaper_resume(). Context: any. */
static inline int ckpt_subreaper_suspend(void)
{
    int is_subreaper = 0;

    (void)ckpt_sys_prctl(PR_GET_CHILD_SUBREAPER, (unsigned long)&is_subreaper, 0, 0, 0);
    if (is_subreaper) {
        (void)ckpt_sys_prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    }
    return is_subreaper;
}

/* Call it after the intermediate process has been waited for. Context: any. */
static inline void ckpt_subreaper_resume(int is_subreaper)
{
    if (is_subreaper) {
        (void)ckpt_sys_prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    }
}

#endif
