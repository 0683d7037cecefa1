/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal.h - the undo journal of files, as the rest of the process sees it.
 *
 * ckpt/journal.h has the layout of the logs, docs/file-journal.md the rules.
 */
#ifndef CKPT_JOURNAL_JOURNAL_H
#define CKPT_JOURNAL_JOURNAL_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

#include <stddef.h>
#include <stdint.h>

/* At the start of the process: what it writes to the job's standard output is held, if
 * outputs are concealed. given: ckpt_journal_held_output() of the process that has
 * started this one; NULL or "": descriptor 1 is the job's output. Context: normal. */
void ckpt_journal_hold_output(const char *given);

/* Which stream that is, as a text for children; capacity: of `name`. Context: any. */
void ckpt_journal_held_output(char *name, size_t capacity);

/* At the start of the process, before the program runs: learns what it has been
 * given. 0 or -errno with the reason. Context: normal. */
int ckpt_journal_prepare(struct ckpt_failure *failure);

/*
 * Begins to record changes in `directory`, which must exist. Does nothing if that
 * has been done. No other thread may run in libc: before there are any, or
 * quiesced. rank: of MPI_COMM_WORLD, or -1. is_ours: tells which open descriptors
 * are not the program's; NULL: none. 0 or -errno with the reason; then
 * nothing is recorded. ckpt_journal_prepare() must have been called.
 */
int ckpt_journal_open(const char *directory, int rank, int (*is_ours)(int fd),
                      struct ckpt_failure *failure);

/* 1 if changes are recorded. Context: any. */
int ckpt_journal_is_open(void);

/*
 * This process describes itself for the checkpoint with the mark `number`: changes from
 * now on are recorded as changes since then. 0, or -errno with the reason: the
 * checkpoint must not be taken. Context: quiesced.
 */
int ckpt_journal_mark(uint64_t number, int rank, struct ckpt_failure *failure);

/*
 * After a restart: goes on in `directory`, or not at all if that is NULL. at_once: the log
 * begins now, not with the first change, as the process is about to give up rights. 0 or
 * -errno with the reason. Context: quiesced.
 */
int ckpt_journal_resume(const char *directory, int rank, int (*is_ours)(int fd), int at_once,
                        struct ckpt_failure *failure);

/* At the start of a restarted process: nothing is recorded before
 * ckpt_journal_resume(). Context: quiesced. */
void ckpt_journal_suspend(void);

/* Memory that belongs to the host and must not be saved; empty if there is none.
 * Context: quiesced. */
struct ckpt_range ckpt_journal_excluded(void);

/* In the child of a fork(). Context: normal. */
void ckpt_journal_forked(void);

/* The program has mapped [offset, offset + size) of the open file, to share what
 * it writes there, but has not yet learnt where. Context: normal. */
void ckpt_journal_mapped(int fd, uint64_t offset, uint64_t size);

/* The file at `path` will be opened by the MPI library to be written to. */
void ckpt_journal_before_mpi_write(const char *path, int creates);

/*
 * The path by which the MPI library is to open the file, into `found`: another one if it is
 * concealed, or is to be. found: [PATH_MAX]. Before the function above.
 * Context: normal.
 */
void ckpt_journal_mpi_path(const char *path, int writes, int creates, char *found);

/* 1 if outputs are concealed: then the program's names are not those of the kernel. Context:
 * any. */
int ckpt_journal_conceals(void);

/*
 * After a restart: where the file is that was open as `path`, into `found`[PATH_MAX]: it is
 * concealed again if it is written to. journal: the new launch's directory, or NULL. 0 or
 * -errno. Context: quiesced.
 */
int ckpt_journal_restored_path(const char *journal, const char *path, int writes,
                               char *found);

/* The MPI library will remove it. Context of both: normal. */
void ckpt_journal_before_mpi_delete(const char *path);

/* 1 if the descriptor is the journal's. Context: any. */
int ckpt_journal_owns_descriptor(int fd);

#endif
