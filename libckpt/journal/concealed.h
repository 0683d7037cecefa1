/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * concealed.h - the location of concealed outputs, and the lock that guards them.
 *
 * While outputs are concealed, each file system has a directory of the job, a place. It is in
 * the highest directory that the user may write to. The concealed object that the program knows
 * as /a/b is PLACE/a/b. ckpt/journal.h describes the layout.
 *
 * Context of all functions unless stated: the journal's lock is held; upper half.
 */
#ifndef CKPT_JOURNAL_CONCEALED_H
#define CKPT_JOURNAL_CONCEALED_H

#include "journal/log/undo_log.h"

/* The place of the objects below `top` in one file system. */
struct ckpt_place {
    uint64_t device;
    char top[CKPT_UNDO_PATH];       /* "" for the root */
    char directory[CKPT_UNDO_PATH]; /* "" if objects below `top` cannot be concealed */
    int is_made;                    /* 1: the directory is known to exist */
};

/* Reads from the journal's directory whether outputs are concealed. Returns 0, or -errno with
 * the reason. */
int ckpt_concealed_open(struct ckpt_failure *failure);

/* Forgets the descriptors, which a restarted process or the child of a fork() does not have. */
void ckpt_concealed_lose(void);

/* 1 if outputs are concealed. Context: any. */
int ckpt_concealed_is_on(void);

/* Returns 1 if `fd` is the descriptor of the lock file. Context: any. */
CKPT_GENERAL_REGISTERS int ckpt_concealed_owns_descriptor(int fd);

/* The program is about to close `fd`, or to put another file there. */
void ckpt_concealed_closing(int fd);

/*
 * Locks all concealed objects of the job against other processes, on all hosts, and against the
 * launcher that reveals them. The kernel releases the lock when the process ends. Not
 * recursive. lock: returns 0 or -errno.
 */
int ckpt_concealed_lock(void);
void ckpt_concealed_unlock(void);

/* Takes the lock through `fd`, a descriptor of the lock file, until that is closed. Returns 0
 * or -errno. Context: any. */
int ckpt_concealed_hold(int fd);

/* Returns the place for objects in `directory`, the kernel's path of a visible directory on
 * `device`. Never NULL; the place's directory is "" if nothing there can be concealed. */
struct ckpt_place *ckpt_concealed_place(const char *directory, uint64_t device);

/* Creates the place, and records it in the journal for the launcher. Returns 0 or -errno. */
int ckpt_concealed_provide(struct ckpt_place *place);

/* Creates a place with that directory, in any process. Returns 0 or -errno. Context: any. */
int ckpt_concealed_make(const char *journal, const char *directory);

/* Returns 1 if the place's directory exists. */
int ckpt_concealed_exists(struct ckpt_place *place);

/* Returns the length of the prefix of `path` that is a place; the rest is the name that the
 * program knows. 0: the path is not in a place. Context: any. */
size_t ckpt_concealed_prefix(const char *path);

/* Converts the kernel's `path` to the program's name, in place. */
void ckpt_concealed_strip(char *path);

/* Returns 1 if the program sees such paths unchanged: files of the kernel, of devices and of
 * the job. */
int ckpt_concealed_is_exempt(const char *path);

#endif
