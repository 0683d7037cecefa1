/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apart.h - runs a function in a child process that shares the memory but has its own
 * descriptor table.
 *
 * A process loses all its record locks (fcntl(), F_SETLK) on a file when it closes any
 * descriptor of that file (POSIX.1-2017, close()). The locks belong to the process. So the
 * program keeps its locks on a file that only the child opens and closes.
 */
#ifndef CKPT_TASK_APART_H
#define CKPT_TASK_APART_H

/* Bytes of stack that a function of this library needs. */
#define CKPT_APART_STACK_SIZE 16384

/*
 * Calls work(argument) in the child; this thread waits until the call returns. The child has
 * copies of the descriptors, so numbers refer to the same files there. `stack_top`: the end of
 * the child's stack, 16-byte aligned, used by this call alone. Returns the result of work(),
 * which is not greater than 0, or -errno if the child could not be created or was killed
 * (-ECANCELED).
 * Context: normal or quiesced. No signal handler runs in the child.
 */
int ckpt_run_apart(int (*work)(void *argument), void *argument, char *stack_top);

#endif
