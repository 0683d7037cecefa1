/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * view.c - looks up a name in the visible tree and in the concealed tree on top of it.
 *
 * The walk goes name by name, since each component of the path may be a symbolic link, a new
 * directory or a removed one.
 */
#include "journal/view.h"

#include "base/text.h"
#include "journal/path.h"
#include "journal/shadow.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define MOST_LINKS 40 /* the kernel's limit */
#define MOST_DEPTH 512

/* A directory on the path. */
struct level {
    size_t length; /* bytes of its path; 0: the root */
    uint64_t device;
    struct ckpt_place *place;
    int is_visible;   /* it shows names of the visible tree */
    int is_concealed; /* it has concealed names */
};

static struct level levels[MOST_DEPTH];
static char rest[CKPT_UNDO_PATH];  /* the part of the path that has not been walked yet */
static char other[CKPT_UNDO_PATH]; /* a path in a place, or the target of a link */

static int look(const char *path, struct stat *status)
{
    return (int)ckpt_syscall3(SYS_lstat, (long)path, (long)status, 0);
}

int ckpt_view_is_merged(const char *shadow)
{
    static char marker[CKPT_UNDO_PATH];
    struct stat status;

    ckpt_text_format(marker, sizeof(marker), "%s/" CKPT_JOURNAL_MERGED, shadow);
    return look(marker, &status) == 0;
}

int ckpt_view_is_gone(const char *shadow, const struct stat *status)
{
    static const char gone[] = CKPT_JOURNAL_GONE;
    char target[sizeof(gone) + 1];

    return S_ISLNK(status->st_mode) &&
           status->st_size == (off_t)sizeof(gone) - 1 &&
           ckpt_sys_readlink(shadow, target, sizeof(target)) ==
               (long)sizeof(gone) - 1 &&
           memcmp(target, gone, sizeof(gone) - 1) == 0;
}

const char *ckpt_view_object(const struct ckpt_view *view)
{
    return view->kind == CKPT_VIEW_CONCEALED ? view->shadow : view->path;
}

/* Writes the path of the concealed object for the name `path`. Returns 0 or -errno. */
static int shadow_of(const struct ckpt_place *place, const char *path, char *shadow)
{
    if (ckpt_text_length(place->directory) + ckpt_text_length(path) + 64 >
        CKPT_UNDO_PATH) {
        return -ENAMETOOLONG;
    }
    ckpt_text_format(shadow, CKPT_UNDO_PATH, "%s%s", place->directory, path);
    return 0;
}

/* Fills in the level of the directory view->path, which is in the visible tree. */
static void enter_visible(struct ckpt_view *view, struct level *level, uint64_t device)
{
    struct stat status;

    level->is_visible = 1;
    level->is_concealed = 0;
    level->device = device;
    level->place = ckpt_concealed_place(level->length == 0 ? "/" : view->path, device);
    if (ckpt_concealed_exists(level->place) &&
        shadow_of(level->place, view->path, other) == 0) {
        level->is_concealed =
            look(other, &status) == 0 && S_ISDIR(status.st_mode);
    }
}

static void begin(struct ckpt_view *view)
{
    struct stat status;

    view->path[0] = '\0';
    view->is_below = 0;
    levels[0].length = 0;
    (void)ckpt_sys_stat("/", &status);
    enter_visible(view, &levels[0], status.st_dev);
    view->is_below = levels[0].is_concealed;
}

/* Takes the next name from `rest` and appends it to view->path. Returns 1; 0 if none is left;
 * -errno. *is_last: nothing follows, not even a slash. */
static int take_name(struct ckpt_view *view, size_t *at, int *is_last, char *name)
{
    size_t length = 0;
    const size_t before = ckpt_text_length(view->path);

    while (rest[*at] == '/') {
        (*at)++;
    }
    while (rest[*at + length] != '/' && rest[*at + length] != '\0') {
        length++;
    }
    if (length == 0) {
        return 0;
    }
    if (length > 255 || before + length + 2 > CKPT_UNDO_PATH) {
        return -ENAMETOOLONG;
    }
    ckpt_text_copy(name, length + 1, rest + *at);
    *at += length;
    *is_last = rest[*at] == '\0';
    return 1;
}

/* Finds the object at view->path, in the directory *level. Fills in kind, hides and status. */
static int find_object(struct ckpt_view *view, const struct level *level)
{
    struct stat visible;
    const int result = level->is_visible ? look(view->path, &visible) : -ENOENT;
    int is_there, is_merged;

    if (result != 0 && result != -ENOENT) {
        return result;
    }
    view->place = level->place;
    view->is_in_visible = level->is_visible;
    view->hides = 0;
    if (shadow_of(level->place, view->path, view->shadow) != 0 ||
        level->place->directory[0] == '\0') {
        view->shadow[0] = '\0';
    }
    is_there = level->is_concealed && view->shadow[0] != '\0' &&
               look(view->shadow, &view->status) == 0;
    is_merged = is_there && S_ISDIR(view->status.st_mode) &&
                ckpt_view_is_merged(view->shadow);
    if (is_merged && result == 0 && S_ISDIR(visible.st_mode)) {
        view->kind = CKPT_VIEW_MERGED;
        view->status = visible;
    } else if (is_there && !is_merged) {
        view->hides = result == 0;
        view->kind = ckpt_view_is_gone(view->shadow, &view->status)
                         ? CKPT_VIEW_ABSENT
                         : CKPT_VIEW_CONCEALED;
    } else {
        view->kind = result == 0 ? CKPT_VIEW_VISIBLE : CKPT_VIEW_ABSENT;
        view->status = visible;
    }
    return 0;
}

/* Makes the directory view->path the next level. */
static void enter(struct ckpt_view *view, size_t depth)
{
    struct level *level = &levels[depth];

    level->length = ckpt_text_length(view->path);
    if (view->kind == CKPT_VIEW_CONCEALED) {
        level->device = levels[depth - 1].device;
        level->place = levels[depth - 1].place;
        level->is_visible = 0;
        level->is_concealed = 1;
        view->is_moved = 1;
    } else {
        enter_visible(view, level, view->status.st_dev);
    }
    view->is_below |= level->is_concealed;
}

/* view->path is a symbolic link: the walk continues with its target, then with the rest.
 * Returns 0 or -errno. */
static int follow_link(struct ckpt_view *view, size_t *at)
{
    const long length =
        ckpt_sys_readlink(ckpt_view_object(view), other, sizeof(other) - 1);
    const size_t left = ckpt_text_length(rest + *at);

    if (length <= 0) {
        return length < 0 ? (int)length : -ENOENT;
    }
    if ((size_t)length + left + 1 > sizeof(rest)) {
        return -ENAMETOOLONG;
    }
    view->is_moved |= view->kind == CKPT_VIEW_CONCEALED;
    memmove(rest + length, rest + *at, left + 1);
    memcpy(rest, other, (size_t)length);
    *at = 0;
    return 0;
}

static void cut_to(struct ckpt_view *view, const struct level *level)
{
    view->path[level->length] = '\0';
}

/* Ends the walk at a directory itself: the path ends in "/." or "/..", or is "/". */
static int end_at_level(struct ckpt_view *view, size_t depth)
{
    if (depth == 0) {
        view->kind = levels[0].is_concealed ? CKPT_VIEW_MERGED : CKPT_VIEW_VISIBLE;
        view->hides = 0;
        view->place = levels[0].place;
        view->is_in_visible = 1;
        view->shadow[0] = '\0';
        view->path[0] = '/';
        view->path[1] = '\0';
        return (int)ckpt_sys_stat("/", &view->status);
    }
    return find_object(view, &levels[depth - 1]);
}

/* Walks `rest`, an absolute path. */
static int walk(struct ckpt_view *view, int follow)
{
    char name[256];
    size_t at = 0, depth = 0;
    int links = 0, is_last = 0, error;

    begin(view);
    while ((error = take_name(view, &at, &is_last, name)) > 0) {
        if (ckpt_text_equal(name, ".")) {
            continue;
        }
        if (ckpt_text_equal(name, "..")) {
            depth -= depth > 0;
            cut_to(view, &levels[depth]);
            continue;
        }
        ckpt_text_format(view->path + levels[depth].length,
                         CKPT_UNDO_PATH - levels[depth].length, "/%s", name);
        error = find_object(view, &levels[depth]);
        if (error != 0) {
            return error;
        }
        if (S_ISLNK(view->status.st_mode) && view->kind != CKPT_VIEW_ABSENT &&
            (!is_last || follow)) {
            error = ++links > MOST_LINKS ? -ELOOP : follow_link(view, &at);
            if (error != 0) {
                return error;
            }
            depth = rest[0] == '/' ? 0 : depth;
            cut_to(view, &levels[depth]);
            continue;
        }
        if (is_last) {
            return 0;
        }
        if (view->kind == CKPT_VIEW_ABSENT || !S_ISDIR(view->status.st_mode)) {
            while (rest[at] == '/') {
                at++;
            }
            if (rest[at] == '\0' && view->kind == CKPT_VIEW_ABSENT) {
                return 0; /* for example mkdir("new/") */
            }
            return view->kind == CKPT_VIEW_ABSENT ? -ENOENT : -ENOTDIR;
        }
        if (depth + 1 == MOST_DEPTH) {
            return -ENAMETOOLONG;
        }
        enter(view, ++depth);
    }
    return error != 0 ? error : end_at_level(view, depth);
}

/* Writes the directory to which a relative path refers, by the program's name, to `rest`.
 * *is_moved: the kernel knows it by another path. */
static int base_of(int directory, int *is_moved)
{
    const int error = ckpt_journal_base(directory, rest);

    if (error != 0) {
        return error;
    }
    if (rest[0] != '/') {
        return -ENOENT; /* not a directory, or unreachable */
    }
    *is_moved = ckpt_concealed_prefix(rest) != 0;
    ckpt_concealed_strip(rest);
    return 0;
}

/* Reads the program's string, whose pointer may be invalid. Returns 0 or -errno. */
static int read_path(const char *path, char *to, size_t capacity)
{
    const long check =
        ckpt_syscall3(SYS_access, (long)path, 0 /* F_OK */, 0);

    if (check == -EFAULT || check == -ENAMETOOLONG) {
        return (int)check;
    }
    return ckpt_text_copy(to, capacity, path) == ckpt_text_length(path)
               ? 0
               : -ENAMETOOLONG;
}

int ckpt_view_find(int directory, const char *path, int follow, struct ckpt_view *view)
{
    static char given[CKPT_UNDO_PATH];
    size_t length;
    int error;

    view->is_below = view->is_moved = view->is_exempt = 0;
    error = read_path(path, given, sizeof(given));
    if (error == 0 && given[0] == '\0') {
        error = -ENOENT;
    }
    if (error != 0) {
        return error;
    }
    rest[0] = '\0';
    error = given[0] == '/' ? 0 : base_of(directory, &view->is_moved);
    length = ckpt_text_length(rest);
    if (error != 0 || length + ckpt_text_length(given) + 2 > sizeof(rest)) {
        return error != 0 ? error : -ENAMETOOLONG;
    }
    ckpt_text_format(rest + length, sizeof(rest) - length, "/%s", given);
    if (given[0] == '/' && ckpt_concealed_is_exempt(given)) {
        view->is_exempt = 1; /* may contain links that only the kernel can follow */
        return 0;
    }
    error = walk(view, follow);
    view->is_exempt = ckpt_concealed_is_exempt(view->path);
    if (error == 0 && !view->is_exempt) {
        ckpt_shadow_join(view);
    }
    return error;
}
