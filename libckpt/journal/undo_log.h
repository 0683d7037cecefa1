/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * undo_log.h - the log of this process: records, their order, and the host's clock.
 *
 * Context of all functions: the journal's lock is held and signals are blocked;
 * upper half, also quiesced.
 */
#ifndef CKPT_JOURNAL_UNDO_LOG_H
#define CKPT_JOURNAL_UNDO_LOG_H

#include "ckpt/failure.h"
#include "ckpt/journal.h"
#include "ckpt/snapshot.h"
#include "journal/call.h"

#include <stddef.h>
#include <sys/stat.h>

/* Longest string of a record, with its NUL: PATH_MAX. */
#define CKPT_UNDO_PATH 4096u

/*
 * Maps the clock of this host in `directory`, which must exist. The log there
 * begins with the first record. rank: of MPI_COMM_WORLD, or -1. Does nothing if
 * that has been done. 0 or -errno with the reason.
 */
int ckpt_undo_begin(const char *directory, int rank, struct ckpt_failure *failure);

/* Begins the log now, if it has none yet: the process may lose the right to. 0 or -errno. */
int ckpt_undo_create(void);

/* The process has another number and none of its descriptors: a log must begin. */
void ckpt_undo_lose(void);

/* In the child of a fork(): this memory is its own. */
void ckpt_undo_forked(void);

/* 1 if the descriptor is the log's. Context: any. */
CKPT_GENERAL_REGISTERS int ckpt_undo_owns_descriptor(int fd);

/* The application closes `fd`, or puts another file there. The log that is
 * there is opened again with the next record. */
void ckpt_undo_closing(int fd);

/* The journal's directory; "" before ckpt_undo_begin(). */
const char *ckpt_undo_directory(void);

/* "DIRECTORY/HOST-PID-N" into path[CKPT_UNDO_PATH], each time another one. */
void ckpt_undo_kept_name(const char *directory, char *path);

/*
 * Appends a record: `record` without magic, checksum, length and sizes, which are
 * filled in here; also its order if that is 0. path, other: or NULL. data: of
 * record->data_size bytes. 0 or -errno.
 */
int ckpt_undo_append(struct ckpt_journal_record *record, const char *path,
                    const char *other, const void *data);

/* Writes out records that ckpt_undo_append() holds back between the two calls,
 * for many at once. 0 or -errno. */
void ckpt_undo_gather(void);
int ckpt_undo_flush(void);

/* Identity, size, times, mode and owner of an object into a record. */
void ckpt_undo_describe(struct ckpt_journal_record *record,
                       const struct stat *status);

/* The kernel sent SIGXFSZ with EFBIG: a file of the journal met the program's limit of file
 * sizes (setrlimit(), RLIMIT_FSIZE). Takes that signal, which would end the program.
 * Context: the journal's lock is held, so signals are blocked. */
void ckpt_undo_take_size_signal(void);

/*
 * Notes in the host's clock that a change could not be recorded, and why, and
 * says so once on standard error. path: what is changed.
 */
void ckpt_undo_lost(const char *path, int error);

/* The memory of the clock, which belongs to the host and not to the image; empty
 * if there is none. */
struct ckpt_range ckpt_undo_clock(void);

/* How many directories have been renamed on this host; and one more. */
uint64_t ckpt_undo_moves(void);
void ckpt_undo_moved(void);

#endif
