/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal_set.h - sets of signals that an application passes.
 */
#ifndef CKPT_SIGNAL_SET_H
#define CKPT_SIGNAL_SET_H

#include "task/signals.h"

#include <signal.h>
#include <stddef.h>

/* Returns `set` without the checkpoint signal, in `copy`; NULL stays NULL.
 * Context: any. */
static inline const sigset_t *ckpt_set_without_signal(const sigset_t *set,
                                                      sigset_t *copy)
{
    if (set == NULL) {
        return NULL;
    }
    *copy = *set;
    ckpt_signals_strip(copy);
    return copy;
}

#endif
