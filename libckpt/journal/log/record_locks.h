/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record_locks.h - opens and closes files of the program without releasing its record locks
 * (fcntl(), F_SETLK).
 *
 * The kernel releases a process's record locks on a file when the process closes any descriptor
 * of the file: see process/apart.h. A database that lost its locks this way would share its file
 * with another writer.
 */
#ifndef CKPT_JOURNAL_RECORD_LOCKS_H
#define CKPT_JOURNAL_RECORD_LOCKS_H

/* 1 if this process has, or had, a record lock. */
extern int ckpt_record_locks_are_used;

/* Checks whether the process has record locks on the file of a descriptor; they survive
 * execve(). Context: normal; the journal's lock is held, or the journal is not open yet. */
void ckpt_record_locks_find(int fd);

/*
 * Calls work(argument), which opens and closes files of the program. Does so in a separate
 * process if record locks are used. Returns the result of work(), which is not greater than 0,
 * or -errno.
 * Context: the journal's lock is held, so the program cannot take its first lock meanwhile.
 */
int ckpt_record_locks_spare(int (*work)(void *argument), void *argument);

#endif
