/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads.h - stop the other threads of this process, describe them, and make
 * them again after a restart.
 *
 * One signal (the checkpoint signal) serves two purposes. Sent by the node
 * agent it asks the MPI thread to look at its connection: the notify hook
 * runs. Sent by the leader (the thread that does the checkpoint) it parks the
 * receiver inside its handler, where its registers stand in the signal frame
 * on its own or its alternate stack; rt_sigreturn on that frame brings it back, in this process
 * or, on a new kernel thread with the same thread pointer, after a restart.
 */
#ifndef CKPT_THREADS_H
#define CKPT_THREADS_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes that the handler of the checkpoint signal takes below the frame of the signal. */
#define CKPT_HANDLER_ROOM 1024u

/*
 * Installs the handler of the checkpoint signal. Of the stack that it interrupts, or of the
 * thread's alternate stack, it takes the frame and CKPT_HANDLER_ROOM at most; all else is
 * done on stacks of ours.
 * notify: called in the handler when the signal is not a request to park.
 *         Runs with the upper half's thread pointer set; `in_lower` is 1 if
 *         the signal interrupted the lower half (its libc may hold locks, and
 *         no lower-half call may be made). Also called, with 1, for a request
 *         to park that finds its thread in the lower half: that thread must
 *         come out and call ckpt_threads_park_here().
 * is_lower_thread: tells whether a kernel thread belongs to the lower half and
 *         so is never parked. Called from the handler with any thread pointer:
 *         no TLS, no locks. May be NULL: there are none.
 * Context: normal. Returns 0 or -errno.
 */
int ckpt_threads_open(int signal, void (*notify)(int in_lower),
                      int (*is_lower_thread)(int tid));

/* Sends this thread the checkpoint signal: `notify` is called again, as soon as the signal
 * is not blocked. Context: any; either thread pointer. */
void ckpt_threads_notify_again(void);

/* The same for another thread, by the kernel's id; nothing, if it has ended. Context: any;
 * either thread pointer. */
void ckpt_threads_notify(int tid);

/*
 * For a leader that is to go on in the code that the checkpoint signal last interrupted
 * for a call of notify, and not in the handler: it gets that code's signal mask and
 * alternate stack. Context: after a restart, on the stack of that code.
 */
void ckpt_threads_leave_handler(void);

/*
 * Parks all other application threads and blocks all signals of the caller,
 * the leader. Returns 0 when each one is parked; -ETIMEDOUT with the thread's
 * id and name in `failure` if one does not answer within `timeout_ms`, or blocks
 * the checkpoint signal for about a second, -ENOMEM if there is no memory for the
 * stacks that they stand still on (then all are released again). If one
 * still blocks the signal at the next call, that call fails at once.
 * Context: leader; afterwards the context is "quiesced".
 */
int ckpt_threads_freeze(int timeout_ms, struct ckpt_failure *failure);

/* Releases the parked threads and gives the leader its signal mask back; does
 * nothing if no freeze is on. Context: quiesced. */
void ckpt_threads_thaw(void);

/* For a thread that was asked to park while it was in the lower half: parks
 * now if a freeze is still on and the caller is not its leader, else does
 * nothing. Context: upper half, normal. */
void ckpt_threads_park_here(void);

/*
 * The parked threads. The array lives in saved memory and stays valid until
 * thaw. Context: quiesced.
 */
size_t ckpt_threads_list(const struct ckpt_thread **threads_p);

/*
 * 0 if all threads, the leader too, can be made again with all their registers on a host
 * with this layout; else -ENOTSUP, naming the thread. Context: quiesced.
 */
int ckpt_threads_check_registers(const struct ckpt_xsave *xsave,
                                 struct ckpt_failure *failure);

/*
 * After a restart, on the leader: makes a kernel thread for each parked thread
 * (same stack, thread pointer, robust list, rseq, name, signal mask), which
 * stays parked until ckpt_threads_thaw(), and repairs the leader's own kernel
 * state (tid address, robust list, rseq, name).
 * Context: quiesced. Returns 0 or -errno.
 */
int ckpt_threads_recreate(struct ckpt_failure *failure);

/*
 * Records the leader's kernel-side state (tid address, robust list, rseq,
 * name); called by the leader before it describes itself, and used by
 * ckpt_threads_repair_leader() after the lower half's libc has replaced the
 * same registrations. At a restart repair the leader before the lower half is
 * loaded too: the kernel keeps the first rseq registration of a thread.
 * Context: quiesced.
 */
void ckpt_threads_record_leader(void);
void ckpt_threads_repair_leader(void);

/*
 * Kernel thread ids after a restart (thread_ids.c tells why they are needed).
 *
 * ckpt_threads_kernel_tid: the kernel's id of the thread whose pthread_t is
 *     `thread`, if glibc remembers another one, else 0. The answer is true
 *     until the next restart: hold the checkpoint signal blocked while using
 *     it. tid_word_p, if not NULL: where glibc remembers.
 * ckpt_threads_renumbered: the kernel's id of the thread that had this one at
 *     the checkpoint, or -ESRCH. During a restart; later as long as this
 *     thread has not ended.
 * ckpt_threads_remembered: the kernel's id of the thread that glibc remembers by
 *     `id`, or -ESRCH. Context: any.
 * ckpt_threads_remembered_of: the other way round; a thread that is not older than the
 *     restart has the kernel's id. Context: any.
 * ckpt_threads_register_self: called by each new thread before it runs code
 *     of the application; sees to it that no two threads go by the same
 *     remembered id.
 * Context: upper half, normal.
 */
int ckpt_threads_kernel_tid(uintptr_t thread, int32_t **tid_word_p);
int ckpt_threads_renumbered(int former_tid);
int ckpt_threads_remembered(int id);
int ckpt_threads_remembered_of(int kernel_tid);
void ckpt_threads_register_self(void);

/* The leader's registers, as setjmp keeps them, and no more. */
struct ckpt_context {
    uint64_t rbx, rbp, r12, r13, r14, r15, rsp, rip;
    uint32_t mxcsr;
    uint16_t x87_control;
    uint16_t reserved;
};

/* Returns 0 when called, and 1 again when ckpt_context_resume() is called on
 * the same, still active, context. Context: any. */
int ckpt_context_capture(struct ckpt_context *context)
    __attribute__((returns_twice));
void ckpt_context_resume(const struct ckpt_context *context)
    __attribute__((noreturn));

#endif
