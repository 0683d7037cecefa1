/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal_state.h - in the rank page (ckpt/wire.h): whether the rank hears.
 */
#ifndef CKPT_SIGNAL_STATE_H
#define CKPT_SIGNAL_STATE_H

#include <stdint.h>

/* What became of the checkpoint signal, as the rank tells it (task/busy.h). */
struct ckpt_signal_state {
    uint64_t busy;  /* not 0 while code of ours blocks it, and takes it later */
    uint64_t taken; /* how many the thread of HELLO has taken */
};

#endif
