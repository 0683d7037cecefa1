/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deadline.h - absolute times for which threads wait.
 *
 * libc reads such a time from memory before each wait, also after a restart,
 * when the kernel's clock has another value. So libc gets the address of a time
 * in our memory, which a restart changes.
 */
#ifndef CKPT_DEADLINE_H
#define CKPT_DEADLINE_H

#include <stdint.h>
#include <time.h>

/* The deadline of a thread's present call. */
struct ckpt_deadline {
    clockid_t clock;
    int is_set;
    struct timespec program; /* as the program passed it */
    struct timespec kernel;  /* the same time on the present kernel's clock */
};

/*
 * Call it before a call that waits for an absolute time. Returns the pointer to
 * pass to libc in place of `time`; it is `time` itself if that is NULL or has
 * the same meaning on every host. before: receives the deadline of a call that
 * this one interrupts. Context: upper half, normal or a signal handler.
 */
const struct timespec *ckpt_deadline_begin(clockid_t clock,
                                           const struct timespec *time,
                                           struct ckpt_deadline *before);

/* Call it after the call. Context: as ckpt_deadline_begin(). */
void ckpt_deadline_end(const struct ckpt_deadline *before);

/* After a restart, with the new offsets: changes the deadlines of the caller
 * and of all parked threads. Context: quiesced, on the leader. */
void ckpt_deadlines_restarted(void);

/* Returns 1 if `time` is the deadline in our memory of the thread with this
 * thread pointer. Context: upper half. */
int ckpt_deadline_is_here(const void *time, uintptr_t thread_pointer);

#endif
