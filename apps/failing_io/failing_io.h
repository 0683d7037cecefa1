/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failing_io.h - decides whether a call fails, and how.
 *
 * All functions may be called in any thread. Functions that return a truth value set errno if they
 * return true, and preserve it otherwise.
 */
#ifndef FAILING_IO_H
#define FAILING_IO_H

#include <stddef.h>

/* The kind of a call; each kind has its own errors. */
enum kind {
    OPENS,
    MAKES_FILE,
    CHANGES_NAME,
    LOOKS,
    READS,
    WRITES,
    SYNCS,
    LOCKS,
};

/* what: the call, for the log. directory: the directory of a relative path, as for openat(2). */
int failing_name(enum kind kind, const char *what, int directory, const char *path);

/* The same for an open file. */
int failing_file(enum kind kind, const char *what, int fd);

/* The same for a transfer of *size bytes; *size may be reduced instead. */
int failing_transfer(enum kind kind, const char *what, int fd, size_t *size);

/* Waits before written data goes to the disk, if that is to be slow. */
void wait_if_slow(int fd);

/* Returns true at random, one time in two. */
int failing_by_half(void);

#endif
