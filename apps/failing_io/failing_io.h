/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failing_io.h - whether a call is to fail, and how.
 *
 * All functions are for any thread. Those that give a truth set errno if it is one, and leave
 * it alone otherwise.
 */
#ifndef FAILING_IO_H
#define FAILING_IO_H

#include <stddef.h>

/* What a call does; each kind has its own errors. */
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

/* what: the call, for the log. directory: what a relative path begins at, as for openat(2). */
int failing_name(enum kind kind, const char *what, int directory, const char *path);

/* The same for an open file. */
int failing_file(enum kind kind, const char *what, int fd);

/* The same for a transfer of *size bytes, which may become fewer instead. */
int failing_transfer(enum kind kind, const char *what, int fd, size_t *size);

/* Before what is written to an open file goes to the disk: while that is to be slow. */
void wait_if_slow(int fd);

/* By chance: one time in two. */
int failing_by_half(void);

#endif
