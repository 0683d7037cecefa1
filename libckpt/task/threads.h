/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads.h - stops the other threads of this process, describes them, and recreates them after
 * a restart.
 *
 * One signal (the checkpoint signal) serves two purposes. Sent by the node agent it asks the
 * MPI thread to look at its connection: the notify hook runs. Sent by the leader (the thread
 * that performs the checkpoint) it parks the receiver inside its handler. The receiver's
 * registers are then in the signal frame on its own or its alternate stack. rt_sigreturn on
 * that frame resumes it, in this process or, after a restart, on a new kernel thread with the
 * same thread pointer.
 */
#ifndef CKPT_THREADS_H
#define CKPT_THREADS_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes that the handler of the checkpoint signal needs below the signal frame. */
#define CKPT_HANDLER_ROOM 1024u

/*
 * Installs the handler of the checkpoint signal. On the interrupted stack, or the thread's
 * alternate stack, it uses the signal frame and at most CKPT_HANDLER_ROOM bytes; it does all
 * other work on our stacks.
 * notify: called in the handler if the signal is not a request to park.
 *         Runs with the upper half's thread pointer set; `in_lower` is 1 if
 *         the signal interrupted the lower half (its libc may hold locks, so
 *         the hook must not call the lower half). Also called, with 1, for a
 *         request to park if its thread is in the lower half: that thread
 *         must leave it and call ckpt_threads_park_here().
 * is_lower_thread: returns 1 if a kernel thread belongs to the lower half and
 *         so is never parked. Called from the handler with any thread pointer:
 *         no TLS, no locks. May be NULL: none does.
 * Context: normal. Returns 0 or -errno.
 */
int ckpt_threads_open(int signal, void (*notify)(int in_lower),
                      int (*is_lower_thread)(int tid));

/* Sends this thread the checkpoint signal: the handler calls `notify` again, as soon as the
 * signal is unblocked. Context: any; either thread pointer. */
void ckpt_threads_notify_again(void);

/* Does the same for another thread, by the kernel's id; does nothing if it has ended. Context:
 * any; either thread pointer. */
void ckpt_threads_notify(int tid);

/*
 * For a leader that continues in the code that the checkpoint signal last interrupted for a
 * call of notify, and not in the handler: sets that code's signal mask and alternate stack.
 * Context: after a restart, on the stack of that code.
 */
void ckpt_threads_leave_handler(void);

/*
 * Parks all other application threads and blocks all signals of the caller, the leader. Returns
 * 0 when every thread is parked. Returns -ETIMEDOUT if a thread does not answer within
 * `timeout_ms`, or blocks the checkpoint signal for about a second; its id and name are in
 * `failure`. Returns -ENOMEM without memory for the stacks on which they park. After an error
 * all threads are released. While such a thread still blocks the signal, the next call fails at
 * once.
 * Context: leader; afterwards the context is "quiesced".
 */
int ckpt_threads_freeze(int timeout_ms, struct ckpt_failure *failure);

/* Returns 1 between the freeze and the thaw, also in a restarted process. Context: any. */
int ckpt_threads_are_frozen(void);

/* Releases the parked threads and restores the leader's signal mask; does nothing without a
 * freeze. Context: quiesced. */
void ckpt_threads_thaw(void);

/* For a thread that was asked to park while it was in the lower half: parks now if the freeze
 * has not ended and the caller is not its leader, else does nothing. Context: upper half,
 * normal. */
void ckpt_threads_park_here(void);

/*
 * Returns the parked threads. The array is in saved memory and stays valid until the thaw.
 * Context: quiesced.
 */
size_t ckpt_threads_list(const struct ckpt_thread **threads_p);

/*
 * Returns 0 if all threads, the leader too, can be recreated with all their registers on a host
 * with this layout; else -ENOTSUP, naming the thread. Context: quiesced.
 */
int ckpt_threads_check_registers(const struct ckpt_xsave *xsave,
                                 struct ckpt_failure *failure);

/*
 * After a restart, on the leader: creates a kernel thread for each parked thread (same stack,
 * thread pointer, robust list, rseq, name, signal mask), which stays parked until
 * ckpt_threads_thaw(). Also repairs the leader's own kernel state (tid address, robust list,
 * rseq, name).
 * Context: quiesced. Returns 0 or -errno.
 */
int ckpt_threads_recreate(struct ckpt_failure *failure);

/*
 * record: records the leader's kernel-side state (tid address, robust list, rseq, name); the
 * leader calls it before it describes itself. repair: registers that state again after the
 * lower half's libc has replaced it. At a restart also repair the leader before the lower half
 * is loaded: the kernel keeps the first rseq registration of a thread. Context: quiesced.
 */
void ckpt_threads_record_leader(void);
void ckpt_threads_repair_leader(void);

/*
 * Gives the leader another name, which is part of that state. name: at most 15 bytes and a NUL.
 * former: gets the recorded one, or NULL. Context: quiesced.
 */
void ckpt_threads_rename_leader(const char *name, char former[16]);

/*
 * Kernel thread ids after a restart (thread_ids.c explains the need).
 *
 * ckpt_threads_kernel_tid: returns the kernel's id of the thread whose
 *     pthread_t is `thread`, if glibc remembers another one, else 0. The result
 *     is valid until the next restart: block the checkpoint signal while using
 *     it. tid_word_p, if not NULL: receives the address of the remembered id.
 * ckpt_threads_renumbered: returns the kernel's id of the thread that had this
 *     id at the checkpoint, or -ESRCH. Valid during a restart, and later while
 *     this thread has not ended.
 * ckpt_threads_remembered: returns the kernel's id of the thread that glibc
 *     remembers as `id`, or -ESRCH. Context: any.
 * ckpt_threads_remembered_of: the reverse; returns the kernel's id for a thread
 *     that started after the restart. Context: any.
 * ckpt_threads_register_self: called by each new thread before it runs code of
 *     the application; makes sure that no two threads have the same remembered
 *     id.
 * Context: upper half, normal.
 */
int ckpt_threads_kernel_tid(uintptr_t thread, int32_t **tid_word_p);
int ckpt_threads_renumbered(int former_tid);
int ckpt_threads_remembered(int id);
int ckpt_threads_remembered_of(int kernel_tid);
void ckpt_threads_register_self(void);

/* The leader's registers that setjmp would save. */
struct ckpt_context {
    uint64_t rbx, rbp, r12, r13, r14, r15, rsp, rip;
    uint32_t mxcsr;
    uint16_t x87_control;
    uint16_t reserved;
};

/* capture: returns 0 when called, and 1 again when ckpt_context_resume() is called on the same,
 * still active, context. Context: any. */
int ckpt_context_capture(struct ckpt_context *context)
    __attribute__((returns_twice));
void ckpt_context_resume(const struct ckpt_context *context)
    __attribute__((noreturn));

#endif
