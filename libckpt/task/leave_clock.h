/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * leave_clock.h - lets a thread finish reading a clock before it stops.
 *
 * Otherwise the thread would continue after a restart with half a reading: in a vDSO that no
 * longer exists, or with the time of the old host.
 */
#ifndef CKPT_LEAVE_CLOCK_H
#define CKPT_LEAVE_CLOCK_H

#include "sys/syscall.h"

#include <signal.h>

/*
 * Called in a handler of the checkpoint signal. If the interrupted code reads a clock, lets it
 * continue until it has the time; the handler then runs again with the same `info`. Returns 1,
 * and the handler must return; else 0. handler: the caller's action. Context: quiesced, with
 * the upper half's thread pointer.
 */
int ckpt_leave_clock(const siginfo_t *info, void *context,
                     const struct ckpt_sigaction *handler);

#endif
