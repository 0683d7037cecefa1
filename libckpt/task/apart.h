/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apart.h - run a function in a child process that shares the memory, but has
 * descriptors of its own.
 *
 * A process loses all its record locks (fcntl(), F_SETLK) on a file when it closes
 * any descriptor of that file (POSIX.1-2017, close()). The locks belong to the
 * process, so a file that the child opens and closes keeps the locks of the
 * program.
 */
#ifndef CKPT_TASK_APART_H
#define CKPT_TASK_APART_H

/* Bytes that a function of this library needs. */
#define CKPT_APART_STACK_SIZE 16384

/*
 * Calls work(argument) in the child; this thread waits until it has returned. The
 * child has copies of the descriptors: numbers mean the same files in it.
 * `stack_top`: the end of the child's stack, 16-byte aligned, for this call alone.
 * Returns what work() returns, which is not greater than 0, or -errno if there is
 * no child, or the child was killed (-ECANCELED).
 * Context: normal or quiesced. No signal handler runs in the child.
 */
int ckpt_run_apart(int (*work)(void *argument), void *argument, char *stack_top);

#endif
