/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timers.h - timers of the process that send signals: setitimer and alarm, and
 * those of timer_create.
 */
#ifndef CKPT_TIMERS_H
#define CKPT_TIMERS_H

#include "base/arena.h"
#include "ckpt/failure.h"

#include <time.h>

/* timer_settime() was called with these flags: the kernel does not tell
 * afterwards whether a time was absolute. Context: any. */
void ckpt_timers_note(int id, int flags);

/* The clock of a timer of timer_create(); CLOCK_REALTIME if it was not noted.
 * Context: any. */
void ckpt_timers_note_clock(int id, clockid_t clock);
clockid_t ckpt_timers_clock(int id);

/*
 * Reads them into the arena and static (saved) memory. 0, or -errno and which
 * one cannot be saved. After ckpt_pending_save(), which sets timers going that
 * wait for their signal to be taken. Context: quiesced.
 */
int ckpt_timers_save(struct ckpt_arena *arena, struct ckpt_failure *failure);

/* Arms them in a process that has none, with what was left of their times.
 * After ckpt_threads_recreate(), as a timer may be for a thread. 0 or -errno
 * and a reason. Context: quiesced, all signals blocked. */
int ckpt_timers_restore(struct ckpt_failure *failure);

#endif
