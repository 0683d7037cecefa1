/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signals.h - the application's signal handlers, masks and the two halves.
 *
 * The stand-in interposes sigaction, signal, sigprocmask, pthread_sigmask and
 * their kin: a handler of the application runs through a trampoline that sets
 * the upper thread pointer when it interrupted the lower half; the checkpoint
 * signal can be neither blocked nor taken.
 */
#ifndef CKPT_SIGNALS_H
#define CKPT_SIGNALS_H

#include "ckpt/failure.h"

#include <signal.h>
#include <stdint.h>

/* The checkpoint signal: the number in `text`, the value of CKPT_SIGNAL, or
 * our default if that is no signal's number or NULL. Context: any. */
int ckpt_signals_number(const char *text);

/* From now on ckpt_signals_strip() keeps the checkpoint signal out of masks.
 * Called early, it keeps threads that start before MPI_Init from blocking it.
 * Context: normal. */
void ckpt_signals_reserve(int signal);

/* The checkpoint signal as a set, empty before that: also for context.S. */
extern uint64_t ckpt_signals_ours __attribute__((visibility("hidden")));

/* Wraps the handlers that are already installed, from now on also new ones.
 * Unblocks the signal in the calling thread.
 * signal: the checkpoint signal. Context: normal, at MPI_Init. 0 or -errno. */
int ckpt_signals_open(int signal);

/* 1 after ckpt_signals_open, else 0. Context: any. */
int ckpt_signals_is_open(void);

/*
 * sigaction() as the application sees it, once open: `old` tells its own
 * handler, flags and mask, never the trampoline's. For the checkpoint signal
 * the action is remembered and told back, and has no effect.
 * Returns 0 or -errno. Context: upper half, signal handlers included.
 */
int ckpt_signals_action(int signal, const struct sigaction *action,
                        struct sigaction *old);

/* Takes the checkpoint signal out of a set, libc's or the kernel's (bit
 * (signal - 1) for each). Context: any. */
void ckpt_signals_strip(sigset_t *set);
uint64_t ckpt_signals_without_ours(uint64_t set);

/* Reads all dispositions, the leader's mask and alternate stack into static
 * (saved) memory. While threads are frozen the leader's mask is full; the thaw
 * brings back the one it had. Context: quiesced. */
void ckpt_signals_save(void);

/* Puts them back after a restart, before the thaw. Context: quiesced. */
void ckpt_signals_restore(void);

#endif
