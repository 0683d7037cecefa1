/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal_sets.h - the signals that a thread of this process blocks, and those that wait
 * for it alone, as the kernel tells them.
 */
#ifndef CKPT_SIGNAL_SETS_H
#define CKPT_SIGNAL_SETS_H

#include <stdint.h>

/* Bit (signal - 1) for each. */
struct ckpt_signal_sets {
    uint64_t waiting; /* for the thread alone */
    uint64_t blocked;
};

/* tid: the kernel's id, 0 for the calling thread. 0 or -errno (-ESRCH or -ENOENT if there
 * is no such thread); the sets are empty then. Context: any. */
int ckpt_signal_sets_read(int tid, struct ckpt_signal_sets *sets);

/* 1 if this signal has been sent to the thread and waits, as the thread blocks it.
 * Context: any. */
int ckpt_signal_is_held_up(int tid, int signal);

#endif
