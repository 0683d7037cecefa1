/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signals.h - the application's signal handlers and masks in a process of two
 * halves.
 *
 * The stand-in interposes sigaction, signal, sigprocmask, pthread_sigmask and
 * related functions. A handler of the application runs through a trampoline,
 * which sets the upper thread pointer if the handler interrupts the lower half.
 * The application can neither block nor handle the checkpoint signal.
 */
#ifndef CKPT_SIGNALS_H
#define CKPT_SIGNALS_H

#include "ckpt/failure.h"

#include <signal.h>
#include <stdint.h>

/* Returns the checkpoint signal: the number in `text`, the value of
 * CKPT_SIGNAL; or our default if `text` is NULL or not a valid number. Context:
 * any. */
int ckpt_signals_number(const char *text);

/* Makes ckpt_signals_strip() remove the checkpoint signal from masks from now
 * on. An early call prevents threads that start before MPI_Init from blocking
 * it. Context: normal. */
void ckpt_signals_reserve(int signal);

/* The checkpoint signal as a set; empty before that call. context.S uses it,
 * too. */
extern uint64_t ckpt_signals_ours __attribute__((visibility("hidden")));

/* Wraps the installed handlers, and from now on also new ones. Unblocks the
 * signal in the calling thread.
 * signal: the checkpoint signal. Context: normal, at MPI_Init. Returns 0 or
 * -errno. */
int ckpt_signals_open(int signal);

/* Returns 1 after ckpt_signals_open, else 0. Context: any. */
int ckpt_signals_is_open(void);

/*
 * sigaction() for the application, after ckpt_signals_open(): `old` receives
 * its own handler, flags and mask, never the trampoline's. For the checkpoint
 * signal the action is recorded and returned, but has no effect.
 * Returns 0 or -errno. Context: upper half, signal handlers included.
 */
int ckpt_signals_action(int signal, const struct sigaction *action,
                        struct sigaction *old);

/* Remove the checkpoint signal from a set, libc's or the kernel's (bit (signal
 * - 1) for each). Context: any. */
void ckpt_signals_strip(sigset_t *set);
uint64_t ckpt_signals_without_ours(uint64_t set);

/* Reads all dispositions, the leader's mask and alternate stack into static
 * (saved) memory. While threads are frozen the leader's mask is full; the thaw
 * restores its former mask. Context: quiesced. */
void ckpt_signals_save(void);

/* Restores them after a restart, before the thaw. Context: quiesced. */
void ckpt_signals_restore(void);

#endif
