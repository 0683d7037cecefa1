/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal.h - interface of the file undo journal to the rest of the process.
 *
 * ckpt/journal.h has the layout of the logs, docs/file-journal.md the rules.
 */
#ifndef CKPT_JOURNAL_JOURNAL_H
#define CKPT_JOURNAL_JOURNAL_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

#include <stddef.h>
#include <stdint.h>

/* Called at the start of the process: selects the stream that is the job's standard output. If
 * outputs are concealed, output to it is held. given: ckpt_journal_held_output() of the process
 * that started this one; with NULL or "" descriptor 1 is the job's output. Context: normal. */
void ckpt_journal_hold_output(const char *given);

/* Writes the identity of that stream as text, for child processes; capacity: of `name`.
 * Context: any. */
void ckpt_journal_held_output(char *name, size_t capacity);

/* Called at the start of the process, before the program runs: records its standard streams.
 * Returns 0 or -errno with the reason. Context: normal. */
int ckpt_journal_prepare(struct ckpt_failure *failure);

/*
 * Begins to record changes in `directory`, which must exist. Does nothing if the journal is
 * already open. No other thread may run in libc, so call it before threads exist, or quiesced.
 * rank: in MPI_COMM_WORLD, or -1. is_ours: returns 1 for open descriptors that are not the
 * program's; NULL: all are the program's. Returns 0, or -errno with the reason and records
 * nothing. Requires ckpt_journal_prepare().
 */
int ckpt_journal_open(const char *directory, int rank, int (*is_ours)(int fd),
                      struct ckpt_failure *failure);

/* Returns 1 if the journal records changes. Context: any. */
int ckpt_journal_is_open(void);

/*
 * The process describes itself for the checkpoint with the mark `number`: later changes are
 * recorded relative to this mark. Returns 0, or -errno with the reason: the checkpoint must not
 * be taken. Context: quiesced.
 */
int ckpt_journal_mark(uint64_t number, int rank, struct ckpt_failure *failure);

/*
 * After a restart: continues to record in `directory`, or not at all if that is NULL. at_once:
 * creates the log now, not with the first change, since the process is about to drop
 * privileges. Returns 0 or -errno with the reason. Context: quiesced.
 */
int ckpt_journal_resume(const char *directory, int rank, int (*is_ours)(int fd), int at_once,
                        struct ckpt_failure *failure);

/* Called at the start of a restarted process: stops recording until ckpt_journal_resume().
 * Context: quiesced. */
void ckpt_journal_suspend(void);

/* Returns memory that belongs to the host and must not be saved; empty if the journal has none.
 * Context: quiesced. */
struct ckpt_range ckpt_journal_excluded(void);

/* Called in the child of a fork(). Context: normal. */
void ckpt_journal_forked(void);

/* The program has mapped [offset, offset + size) of the open file as shared memory, but does
 * not know the address yet. Context: normal. */
void ckpt_journal_mapped(int fd, uint64_t offset, uint64_t size);

/* The MPI library will open the file at `path` for writing. */
void ckpt_journal_before_mpi_write(const char *path, int creates);

/*
 * Writes to `found` the path by which the MPI library must open the file. It differs from
 * `path` if the file is concealed, or is about to be. found: [PATH_MAX]. Call it before
 * ckpt_journal_before_mpi_write().
 * Context: normal.
 */
void ckpt_journal_mpi_path(const char *path, int writes, int creates, char *found);

/* Returns 1 if outputs are concealed: the kernel's names then differ from the program's.
 * Context: any. */
int ckpt_journal_conceals(void);

/*
 * After a restart: writes to `found`[PATH_MAX] the present path of the file that was open as
 * `path`. A file that is open for writing is concealed again. journal: the new launch's
 * directory, or NULL. Returns 0 or -errno. Context: quiesced.
 */
int ckpt_journal_restored_path(const char *journal, const char *path, int writes,
                               char *found);

/* The MPI library will remove the file. Context of both: normal. */
void ckpt_journal_before_mpi_delete(const char *path);

/* Returns 1 if the descriptor is the journal's. Context: any. */
int ckpt_journal_owns_descriptor(int fd);

#endif
