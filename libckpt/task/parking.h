/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * parking.h - state shared by the files of task/: the table of parked threads, and the
 * registers and kernel registrations of a thread.
 */
#ifndef CKPT_PARKING_H
#define CKPT_PARKING_H

#include "ckpt/snapshot.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum number of threads of a process besides the leader. */
#define CKPT_PARKING_CAPACITY 16384u

/*
 * The table of parked threads, in saved memory. The generation is odd during a freeze; its end
 * makes it even.
 */
struct ckpt_parking {
    uint64_t gate;              /* generation << 32 | slots taken: changed as one word */
    volatile uint32_t parked;   /* slots filled in; futex of the leader */
    volatile uint32_t thaw;     /* the generation again; futex of the parked threads */
    int leader;                 /* kernel thread id */
    struct ckpt_thread *thread; /* [CKPT_PARKING_CAPACITY] */
};
extern struct ckpt_parking ckpt_parking;

/* Waits until the freeze `generation` has ended. Context: freestanding. */
void ckpt_parking_wait(uint32_t generation);

/* Fills in all fields but `context` for the calling thread. Context: quiesced. */
void ckpt_registrations_read(struct ckpt_thread *thread);

/* Registers them with the kernel for the calling thread, except the tid address and the thread
 * pointer. Context: freestanding. */
void ckpt_registrations_write(const struct ckpt_thread *thread);

/* clear: forgets all recorded thread ids; returns 0, or -errno without memory for new ones.
 * note: records one. Context: quiesced. */
int ckpt_thread_ids_clear(void);
void ckpt_thread_ids_note(const struct ckpt_thread *thread, int kernel_tid);

/* context.S */
long ckpt_context_clone(unsigned long flags, void *stack_top, void *child_tid,
                        void *thread_pointer, void (*entry)(const void *),
                        const void *argument);
void ckpt_context_call(void (*function)(void *), void *argument, void *stack_top);
void ckpt_context_sigreturn(void *ucontext) __attribute__((noreturn));
void ckpt_context_restorer(void);
void ckpt_context_open_signal(void); /* for ckpt_interrupted_defer() only */

#endif
