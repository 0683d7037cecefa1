/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * concealed.h - where concealed outputs are, and who may change them.
 *
 * While outputs are concealed, each file system has a directory of ours, a place, in
 * its highest directory that the user may write to. The concealed object that the
 * program knows as /a/b is PLACE/a/b. ckpt/journal.h has the layout.
 *
 * Context of all functions unless stated: the journal's lock is held; upper half.
 */
#ifndef CKPT_JOURNAL_CONCEALED_H
#define CKPT_JOURNAL_CONCEALED_H

#include "journal/undo_log.h"

/* The place of the objects below `top` in one file system. */
struct ckpt_place {
    uint64_t device;
    char top[CKPT_UNDO_PATH];       /* "" for the root */
    char directory[CKPT_UNDO_PATH]; /* "" if nothing can be concealed below top */
    int is_made;                    /* the directory was seen */
};

/* Learns from the journal's directory whether outputs are concealed. 0, or
 * -errno with the reason. */
int ckpt_concealed_open(struct ckpt_failure *failure);

/* A restarted process, or the child of a fork(), has none of the descriptors. */
void ckpt_concealed_lose(void);

/* 1 if outputs are concealed. Context: any. */
int ckpt_concealed_is_on(void);

/* 1 if the descriptor is that of the lock. Context: any. */
CKPT_GENERAL_REGISTERS int ckpt_concealed_owns_descriptor(int fd);

/* The program closes `fd`, or puts another file there. */
void ckpt_concealed_closing(int fd);

/*
 * Holds all concealed objects of the job against other processes, on all hosts, and
 * against the launcher that reveals them. The kernel lets go when the process ends.
 * Once: not while it is held. lock: 0 or -errno.
 */
int ckpt_concealed_lock(void);
void ckpt_concealed_unlock(void);

/* The same by a descriptor of the lock file, until that is closed. 0 or -errno. Context:
 * any. */
int ckpt_concealed_hold(int fd);

/* The place for what is in `directory`, the kernel's path of a visible one on
 * `device`. Never NULL; its directory is "" if nothing can be concealed there. */
struct ckpt_place *ckpt_concealed_place(const char *directory, uint64_t device);

/* Makes it, and notes it in the journal for the launcher. 0 or -errno. */
int ckpt_concealed_provide(struct ckpt_place *place);

/* The same for a place of that directory, in any process. Context: any. */
int ckpt_concealed_make(const char *journal, const char *directory);

/* 1 if the place's directory exists. */
int ckpt_concealed_exists(struct ckpt_place *place);

/* Bytes of `path` that are a place: what follows is the name that the program knows.
 * 0: it is in no place. Context: any. */
size_t ckpt_concealed_prefix(const char *path);

/* The program's name for what the kernel calls `path`, in the same memory. */
void ckpt_concealed_strip(char *path);

/* 1 if the program is to see such paths as they are: files of the kernel, of devices
 * and of the job. */
int ckpt_concealed_is_exempt(const char *path);

#endif
