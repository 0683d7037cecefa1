/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal_sets.h - reads from the kernel which signals a thread of this process blocks, and
 * which are pending for that thread alone.
 */
#ifndef CKPT_SIGNAL_SETS_H
#define CKPT_SIGNAL_SETS_H

#include <stdint.h>

/* Signal sets: bit (signal - 1) for each. */
struct ckpt_signal_sets {
    uint64_t waiting; /* pending for the thread alone */
    uint64_t blocked;
};

/* Reads the sets. tid: the kernel's id, 0 for the calling thread. Returns 0, or -errno with
 * empty sets (-ESRCH or -ENOENT if the thread does not exist). Context: any. */
int ckpt_signal_sets_read(int tid, struct ckpt_signal_sets *sets);

/* Returns 1 if this signal is pending for the thread because the thread blocks it. Context:
 * any. */
int ckpt_signal_is_held_up(int tid, int signal);

#endif
