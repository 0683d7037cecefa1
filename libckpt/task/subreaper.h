/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * subreaper.h - a program that takes in orphans (PR_SET_CHILD_SUBREAPER) must not get ours.
 *
 * What we start for ourselves is an orphan as soon as the process between has ended. The
 * program would find it among its children, wait for it, and refuse checkpoints for it.
 * Limit: an orphan of the program's own that comes in that moment goes past it.
 */
#ifndef CKPT_SUBREAPER_H
#define CKPT_SUBREAPER_H

#include "sys/syscall.h"

#include <sys/prctl.h>

/* Before the process between is made. Returns whether the program takes in orphans, for the
 * other one. Context: any. */
static inline int ckpt_subreaper_suspend(void)
{
    int is_subreaper = 0;

    (void)ckpt_sys_prctl(PR_GET_CHILD_SUBREAPER, (unsigned long)&is_subreaper, 0, 0, 0);
    if (is_subreaper) {
        (void)ckpt_sys_prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    }
    return is_subreaper;
}

/* When it has been waited for. Context: any. */
static inline void ckpt_subreaper_resume(int is_subreaper)
{
    if (is_subreaper) {
        (void)ckpt_sys_prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    }
}

#endif
