/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timers.h - saves the timers of the process that send signals: setitimer,
 * alarm and timer_create.
 */
#ifndef CKPT_TIMERS_H
#define CKPT_TIMERS_H

#include "base/arena.h"
#include "ckpt/failure.h"

#include <time.h>

/* Records a call of timer_settime() with these flags, since the kernel does not
 * report whether a time was absolute. Context: any. */
void ckpt_timers_note(int id, int flags);

/* Record and return the clock of a timer of timer_create(); CLOCK_REALTIME if
 * it was not recorded. Context: any. */
void ckpt_timers_note_clock(int id, clockid_t clock);
clockid_t ckpt_timers_clock(int id);

/*
 * Reads the timers into the arena and static (saved) memory. Returns 0, or
 * -errno with the timer that cannot be saved. Call it after
 * ckpt_pending_save(), which restarts timers whose signal is pending. Context:
 * quiesced.
 */
int ckpt_timers_save(struct ckpt_arena *arena, struct ckpt_failure *failure);

/* Arms the timers in a process that has none, with their remaining times. Call
 * it after ckpt_threads_recreate(), since a timer may signal a thread. Returns
 * 0 or -errno with the reason. Context: quiesced, all signals blocked. */
int ckpt_timers_restore(struct ckpt_failure *failure);

#endif
