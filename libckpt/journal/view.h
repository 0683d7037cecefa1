/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * view.h - what a name stands for, to the program, while outputs are concealed.
 *
 * The program sees the concealed objects on top of the visible tree. A directory may
 * be in both; then the names of both are in it.
 *
 * Context of all functions: the journal's lock and ckpt_concealed_lock() are held;
 * upper half.
 */
#ifndef CKPT_JOURNAL_VIEW_H
#define CKPT_JOURNAL_VIEW_H

#include "journal/concealed.h"

#include <sys/stat.h>

enum ckpt_view_kind {
    CKPT_VIEW_ABSENT = 0,
    CKPT_VIEW_VISIBLE,   /* an object that everybody sees under this name */
    CKPT_VIEW_CONCEALED, /* one that only the program sees */
    CKPT_VIEW_MERGED,    /* a directory in both */
};

struct ckpt_view {
    char path[CKPT_UNDO_PATH];   /* the program's name, absolute, without links */
    char shadow[CKPT_UNDO_PATH]; /* where its concealed object is or would be; "" if
                                    it cannot be concealed */
    struct ckpt_place *place;
    enum ckpt_view_kind kind;
    int hides;          /* ABSENT, CONCEALED: everybody else sees an object there */
    int is_in_visible;  /* the directory that it is in is visible or merged */
    int is_below;       /* a directory above it is concealed or merged */
    int is_exempt;      /* the kernel is to see the path as it is; no other member
                           is valid */
    int is_moved;       /* the path leads through concealed objects: the kernel would not
                           find visible ones by it */
    struct stat status; /* unless ABSENT */
};

/*
 * Looks up (directory, path) of a system call. follow: a symbolic link at the end is
 * followed. 0; or -errno if the path leads nowhere: the call is to fail with that if
 * view->is_below, else the kernel decides.
 */
int ckpt_view_find(int directory, const char *path, int follow, struct ckpt_view *view);

/* What the object is to the kernel: view->path or view->shadow. */
const char *ckpt_view_object(const struct ckpt_view *view);

/* 1 if the directory of concealed objects lets the visible one show through. */
int ckpt_view_is_merged(const char *shadow);

/* 1 if the concealed object says that the visible one is gone. */
int ckpt_view_is_gone(const char *shadow, const struct stat *status);

#endif
