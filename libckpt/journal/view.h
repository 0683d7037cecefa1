/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * view.h - finds the object that a name refers to for the program, while outputs are concealed.
 *
 * The program sees the concealed objects on top of the visible tree. A directory may exist in
 * both trees; it then has the names of both.
 *
 * Context of all functions: the journal's lock and ckpt_concealed_lock() are held; upper half.
 */
#ifndef CKPT_JOURNAL_VIEW_H
#define CKPT_JOURNAL_VIEW_H

#include "journal/concealed.h"

#include <sys/stat.h>

enum ckpt_view_kind {
    CKPT_VIEW_ABSENT = 0,
    CKPT_VIEW_VISIBLE,   /* an object that all processes see under this name */
    CKPT_VIEW_CONCEALED, /* an object that only the program sees */
    CKPT_VIEW_MERGED,    /* a directory in both trees */
};

struct ckpt_view {
    char path[CKPT_UNDO_PATH];   /* the program's name, absolute, without links */
    char shadow[CKPT_UNDO_PATH]; /* path of its concealed object, existing or not; "" if it
                                    cannot be concealed */
    struct ckpt_place *place;
    enum ckpt_view_kind kind;
    int hides;          /* ABSENT, CONCEALED: other processes see an object there */
    int is_in_visible;  /* its directory is visible or merged */
    int is_below;       /* a directory above it is concealed or merged */
    int is_exempt;      /* the kernel gets the path unchanged; no other field is valid */
    int is_moved;       /* the path leads through concealed objects, so the kernel would not
                           find visible objects by it */
    struct stat status; /* valid unless ABSENT */
};

/*
 * Looks up (directory, path) of a system call. follow: a symbolic link at the end is followed.
 * Returns 0, or -errno if the path leads nowhere. If view->is_below, the call must fail with
 * that error; otherwise the kernel decides.
 */
int ckpt_view_find(int directory, const char *path, int follow, struct ckpt_view *view);

/* Returns the kernel's path of the object: view->path or view->shadow. */
const char *ckpt_view_object(const struct ckpt_view *view);

/* Returns 1 if the concealed directory lets the visible one show through. */
int ckpt_view_is_merged(const char *shadow);

/* Returns 1 if the concealed object marks the visible one as removed. */
int ckpt_view_is_gone(const char *shadow, const struct stat *status);

#endif
