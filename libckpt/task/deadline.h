/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deadline.h - absolute times that a thread waits for.
 *
 * libc reads such a time from memory each time it waits: also after a restart,
 * when the kernel's clock shows another time. So libc gets the address of a
 * time of ours, which a restart changes.
 */
#ifndef CKPT_DEADLINE_H
#define CKPT_DEADLINE_H

#include <stdint.h>
#include <time.h>

/* The deadline of the call that a thread is in. */
struct ckpt_deadline {
    clockid_t clock;
    int is_set;
    struct timespec program; /* as the program gave it */
    struct timespec kernel;  /* the same on the kernel's clock now */
};

/*
 * Before a call that waits for an absolute time. Returns what libc shall get in
 * place of `time`: `time` itself if it is NULL or means the same on each host.
 * before: receives the deadline of a call that this one interrupts. Context:
 * upper half, normal or a signal handler.
 */
const struct timespec *ckpt_deadline_begin(clockid_t clock,
                                           const struct timespec *time,
                                           struct ckpt_deadline *before);

/* After the call. Context: as ckpt_deadline_begin(). */
void ckpt_deadline_end(const struct ckpt_deadline *before);

/* After a restart, with the new offsets: changes the deadlines of the caller
 * and of all parked threads. Context: quiesced, on the leader. */
void ckpt_deadlines_restarted(void);

/* 1 if `time` is the deadline here of the thread with this thread pointer.
 * Context: upper half. */
int ckpt_deadline_is_here(const void *time, uintptr_t thread_pointer);

#endif
