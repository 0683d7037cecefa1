/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * undo_log.h - the log of this process: records, their order, and the host's clock.
 *
 * Context of all functions: the journal's lock is held and signals are blocked; upper half,
 * also quiesced.
 */
#ifndef CKPT_JOURNAL_UNDO_LOG_H
#define CKPT_JOURNAL_UNDO_LOG_H

#include "ckpt/failure.h"
#include "ckpt/journal.h"
#include "ckpt/snapshot.h"
#include "sys/cpu.h"

#include <stddef.h>
#include <sys/stat.h>

/* Maximum size of a string in a record, with its NUL: PATH_MAX. */
#define CKPT_UNDO_PATH 4096u

/*
 * Maps the clock of this host in `directory`, which must exist. The first record creates the
 * log there. rank: in MPI_COMM_WORLD, or -1. Does nothing if the clock is already mapped.
 * Returns 0 or -errno with the reason.
 */
int ckpt_undo_begin(const char *directory, int rank, struct ckpt_failure *failure);

/* Creates the log now, if the process has none yet: it may lose the right to do so later.
 * Returns 0 or -errno. */
int ckpt_undo_create(void);

/* The process has another process id and none of its descriptors, so a new log begins. */
void ckpt_undo_lose(void);

/* Called in the child of a fork(), which owns its copy of this memory. */
void ckpt_undo_forked(void);

/* Returns 1 if `fd` is the log's descriptor. Context: any. */
CKPT_GENERAL_REGISTERS int ckpt_undo_owns_descriptor(int fd);

/* The application is about to close `fd`, or to put another file there. If it is the log's
 * descriptor, the next record opens the log again. */
void ckpt_undo_closing(int fd);

/* Returns the journal's directory; "" before ckpt_undo_begin(). */
const char *ckpt_undo_directory(void);

/* Writes a new unique name "DIRECTORY/HOST-PID-ORDER-N" to path[CKPT_UNDO_PATH]. */
void ckpt_undo_kept_name(const char *directory, char *path);

/*
 * Appends a record. The function fills in magic, checksum, length and sizes of `record`, and
 * its order if that is 0. path, other: may be NULL. data: record->data_size bytes. Returns 0 or
 * -errno.
 */
int ckpt_undo_append(struct ckpt_journal_record *record, const char *path,
                     const char *other, const void *data);

/* Between gather() and flush(), ckpt_undo_append() collects many records; flush() writes them
 * with few system calls. Returns 0 or -errno. */
void ckpt_undo_gather(void);
int ckpt_undo_flush(void);

/* Copies identity, size, times, mode and owner of an object into a record. */
void ckpt_undo_describe(struct ckpt_journal_record *record,
                        const struct stat *status);

/* The kernel has sent SIGXFSZ with EFBIG: a file of the journal has reached the program's limit
 * on file sizes (setrlimit(), RLIMIT_FSIZE). Consumes that signal, which would end the program.
 * Context: the journal's lock is held, so signals are blocked. */
void ckpt_undo_take_size_signal(void);

/*
 * Records in the host's clock that a change could not be recorded, and why. Prints this once on
 * standard error. path: of the changed object.
 */
void ckpt_undo_lost(const char *path, int error);

/* Returns the memory of the clock, which belongs to the host and not to the image; empty if the
 * clock is not mapped. */
struct ckpt_range ckpt_undo_clock(void);

/* Return the number of directories renamed on this host, and increment it. */
uint64_t ckpt_undo_moves(void);
void ckpt_undo_moved(void);

#endif
