/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal_state.h - the rank's handling of the checkpoint signal, in the rank
 * page (ckpt/wire.h).
 */
#ifndef CKPT_SIGNAL_STATE_H
#define CKPT_SIGNAL_STATE_H

#include <stdint.h>

/* State of the checkpoint signal; the rank writes it (task/busy.h). */
struct ckpt_signal_state {
    uint64_t busy;  /* not 0 while our code blocks the signal and takes it
                       later */
    uint64_t taken; /* how many signals the thread named in HELLO has taken */
};

#endif
