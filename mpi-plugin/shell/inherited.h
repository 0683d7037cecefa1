/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inherited.h - give up what a process keeps when it executes another program.
 */
#ifndef CKPT_INHERITED_H
#define CKPT_INHERITED_H

/* Closes all descriptors but 0, 1, 2 and these. kept: in any order, is sorted. Returns 0 or -errno.
 * Context: freestanding. */
int ckpt_inherited_close(int *kept, unsigned count);

/*
 * Stops timers, releases locks on descriptors 0, 1 and 2, and adjusts semaphores as at an exit
 * (SEM_UNDO). From now on only SIGTERM, SIGINT, SIGQUIT and SIGHUP have an effect, beside those
 * that no process can block: the default one, unless the program ignored one of the last three.
 * The caller has blocked all signals. Returns 0, or -errno of the first that failed.
 * Context: freestanding.
 */
int ckpt_inherited_give_up(void);

/* Returns a descriptor from which the signals without effect can be read (signalfd(2)), or -errno.
 * Context: freestanding. */
long ckpt_inherited_signals(void);

#endif
