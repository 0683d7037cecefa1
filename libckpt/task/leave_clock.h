/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * leave_clock.h - a thread that reads a clock finishes that before it stops.
 *
 * Otherwise it would go on after a restart with half a reading: in a vDSO that
 * is not there any more, or with the time of the other host.
 */
#ifndef CKPT_LEAVE_CLOCK_H
#define CKPT_LEAVE_CLOCK_H

#include "sys/syscall.h"

#include <signal.h>

/*
 * In a handler of the checkpoint signal. If the interrupted code reads a clock:
 * arranges that it goes on until it has the time, and that the handler then runs
 * again with the same `info`. Returns 1, and the handler has to return; else 0.
 * handler: the caller's action. Context: quiesced, with the upper half's thread
 * pointer.
 */
int ckpt_leave_clock(const siginfo_t *info, void *context,
                     const struct ckpt_sigaction *handler);

#endif
