/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shadow.c - concealed objects: copies of visible ones, marks of removed ones, and the
 * directories that hold them.
 */
#include "journal/shadow.h"

#include "base/directory.h"
#include "base/text.h"
#include "journal/log/keep.h"
#include "journal/known.h"
#include "journal/name.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

static char temporary[CKPT_UNDO_PATH];

/* An object is created under this name, and then renamed, so that it appears complete. */
static void choose_temporary(const char *place)
{
    ckpt_text_format(temporary, sizeof(temporary), "%s/.ckpt-new-%d", place,
                     ckpt_sys_getpid());
}

static long unlink_name(const char *path)
{
    return ckpt_syscall3(SYS_unlink, (long)path, 0, 0);
}

static long rename_temporary(const char *to)
{
    const long error = ckpt_syscall3(SYS_rename, (long)temporary, (long)to, 0);

    if (error != 0) {
        (void)unlink_name(temporary);
    }
    return error;
}

static int give_owner(const char *path, const struct stat *status)
{
    return (int)ckpt_syscall3(SYS_lchown, (long)path, status->st_uid, status->st_gid);
}

/* ---- Directories ---------------------------------------------------------- */

/* Creates a directory like the visible one of that name, which shows through. */
static int make_merged(const char *place, const char *visible, const char *shadow)
{
    static char marker[CKPT_UNDO_PATH];
    struct stat status;
    long error = ckpt_sys_stat(visible, &status);

    if (error != 0) {
        return (int)error;
    }
    choose_temporary(place);
    ckpt_text_format(marker, sizeof(marker), "%s/" CKPT_JOURNAL_MERGED, temporary);
    (void)unlink_name(marker); /* left by a killed process with the same id */
    (void)ckpt_syscall3(SYS_rmdir, (long)temporary, 0, 0);
    error = ckpt_syscall3(SYS_mkdir, (long)temporary, 0700, 0);
    if (error == 0) {
        error = ckpt_syscall3(SYS_symlink, (long)CKPT_JOURNAL_MERGED, (long)marker, 0);
    }
    if (error == 0) {
        (void)give_owner(temporary, &status); /* new files inherit its group */
        error = ckpt_syscall3(SYS_chmod, (long)temporary,
                              (status.st_mode & 07777) | 0700, 0);
    }
    if (error == 0) {
        error = ckpt_syscall3(SYS_rename, (long)temporary, (long)shadow, 0);
    }
    return (int)error;
}

/* Creates the concealed directories above the name `path` in the place. Returns 0 or -errno. */
static int make_directories(const char *place, const char *path)
{
    static char shadow[CKPT_UNDO_PATH], visible[CKPT_UNDO_PATH];
    struct stat status;
    int error = 0;

    for (size_t i = 1; path[i] != '\0' && error == 0; i++) {
        if (path[i] != '/') {
            continue;
        }
        ckpt_text_copy(visible, i + 1, path);
        ckpt_text_format(shadow, sizeof(shadow), "%s%s", place, visible);
        if (ckpt_syscall3(SYS_lstat, (long)shadow, (long)&status, 0) != 0) {
            error = make_merged(place, visible, shadow);
        }
    }
    return error;
}

static int provide_directories(const struct ckpt_view *view)
{
    const int error = ckpt_concealed_provide(view->place);

    return error != 0 ? error : make_directories(view->place->directory, view->path);
}

/* Checks whether the user may create and remove names in the visible directory. Returns 0 or
 * -errno. */
static int check_visible_directory(const struct ckpt_view *view)
{
    static char visible[CKPT_UNDO_PATH];
    size_t length = ckpt_text_length(view->path);

    if (!view->is_in_visible) {
        return 0;
    }
    while (length > 1 && view->path[length - 1] != '/') {
        length--;
    }
    ckpt_text_copy(visible, length > 1 ? length : 2, view->path);
    return (int)ckpt_syscall4(SYS_faccessat2, AT_FDCWD, (long)visible,
                              3 /* W_OK, X_OK */, AT_EACCESS);
}

int ckpt_shadow_prepare(const struct ckpt_view *view)
{
    struct stat status;
    int error;

    if (view->shadow[0] == '\0') {
        return -EXDEV;
    }
    error = check_visible_directory(view);
    if (error == 0) {
        error = provide_directories(view);
    }
    if (error == 0 && view->kind == CKPT_VIEW_ABSENT &&
        ckpt_syscall3(SYS_lstat, (long)view->shadow, (long)&status, 0) == 0) {
        ckpt_name_before_change(AT_FDCWD, view->shadow);
        error = (int)unlink_name(view->shadow);
    }
    return error;
}

/* ---- Copies --------------------------------------------------------------- */

static int copy_link(const struct ckpt_view *view)
{
    static char target[CKPT_UNDO_PATH];
    const long length = ckpt_sys_readlink(view->path, target, sizeof(target) - 1);

    if (length < 0) {
        return (int)length;
    }
    target[length] = '\0';
    return (int)ckpt_syscall3(SYS_symlink, (long)target, (long)temporary, 0);
}

static int copy_file(const char *path, const struct stat *status)
{
    const struct timespec times[2] = {status->st_atim, status->st_mtim};
    long error = ckpt_keep_copy(path, status, temporary);

    if (error == 0) {
        /* A writable file may belong to another user; the copy then belongs to this user. */
        (void)give_owner(temporary, status);
        error = ckpt_syscall3(SYS_chmod, (long)temporary, status->st_mode & 07777, 0);
    }
    if (error == 0) {
        error = ckpt_syscall4(SYS_utimensat, AT_FDCWD, (long)temporary, (long)times,
                              AT_SYMLINK_NOFOLLOW);
    }
    return (int)error;
}

/* ---- Several names of one file ------------------------------------------------ */

/* Writes the path of the copy of a visible file, which is named by the file's inode. */
static void find_link(const struct ckpt_view *view, char *path)
{
    ckpt_text_format(path, CKPT_UNDO_PATH, "%s/" CKPT_JOURNAL_LINKS "/%l",
                     view->place->directory, (long)view->status.st_ino);
}

/* Records the copy under the inode of its visible file. Returns 0 or -errno. */
static int note_link(const struct ckpt_view *view)
{
    static char path[CKPT_UNDO_PATH];
    long error;

    ckpt_text_format(path, sizeof(path), "%s/" CKPT_JOURNAL_LINKS,
                     view->place->directory);
    error = ckpt_syscall3(SYS_mkdir, (long)path, 0700, 0);
    if (error == 0 || error == -EEXIST) {
        find_link(view, path);
        (void)unlink_name(path);
        error = ckpt_syscall3(SYS_link, (long)view->shadow, (long)path, 0);
    }
    return (int)error;
}

void ckpt_shadow_join(struct ckpt_view *view)
{
    static char path[CKPT_UNDO_PATH];
    struct stat status;

    if (view->kind != CKPT_VIEW_VISIBLE || !S_ISREG(view->status.st_mode) ||
        view->status.st_nlink < 2 || view->shadow[0] == '\0' ||
        !ckpt_concealed_exists(view->place)) {
        return;
    }
    find_link(view, path);
    if (ckpt_syscall3(SYS_lstat, (long)path, (long)&status, 0) != 0 ||
        provide_directories(view) != 0) {
        return;
    }
    ckpt_name_before_change(AT_FDCWD, view->shadow);
    if (ckpt_syscall3(SYS_link, (long)path, (long)view->shadow, 0) == 0) {
        view->kind = CKPT_VIEW_CONCEALED;
        view->hides = 1;
        view->status = status;
    }
}

/* ---- Copies of files and links --------------------------------------------------- */

int ckpt_shadow_copy(struct ckpt_view *view, int is_emptied)
{
    struct stat status = view->status;
    int error = -EXDEV;

    if (view->shadow[0] != '\0' && (S_ISREG(view->status.st_mode) ||
                                    S_ISLNK(view->status.st_mode))) {
        error = provide_directories(view);
    }
    if (error != 0) {
        return error;
    }
    choose_temporary(view->place->directory);
    (void)unlink_name(temporary);
    status.st_size = is_emptied ? 0 : status.st_size;
    error = S_ISLNK(status.st_mode) ? copy_link(view) : copy_file(view->path, &status);
    if (error == 0) {
        ckpt_name_before_open(AT_FDCWD, view->shadow, O_CREAT | O_WRONLY);
        error = (int)rename_temporary(view->shadow);
    } else {
        (void)unlink_name(temporary);
    }
    if (error == 0 && S_ISREG(view->status.st_mode) && view->status.st_nlink > 1) {
        error = note_link(view);
    }
    if (error == 0) {
        view->kind = CKPT_VIEW_CONCEALED;
        view->hides = 1;
    }
    return error;
}

/* Restores the concealed file `shadow` from `visible`; all arguments are paths. Returns 0 or
 * -errno. */
static int restore(const char *place, const char *shadow, const char *visible)
{
    struct stat status;
    int error = make_directories(place, visible);

    if (error != 0 ||
        ckpt_syscall3(SYS_lstat, (long)shadow, (long)&status, 0) == 0 || /* another rank has done
                                                                            it */
        ckpt_syscall3(SYS_lstat, (long)visible, (long)&status, 0) != 0 ||
        !S_ISREG(status.st_mode)) {
        return error;
    }
    choose_temporary(place);
    (void)unlink_name(temporary);
    error = copy_file(visible, &status);
    if (error != 0) {
        (void)unlink_name(temporary);
        return error;
    }
    return (int)rename_temporary(shadow);
}

int ckpt_shadow_restore(const char *journal, const char *shadow, size_t prefix)
{
    static char place[CKPT_UNDO_PATH], lock[CKPT_UNDO_PATH];
    int fd;
    long error;

    ckpt_text_copy(place, prefix + 1, shadow);
    ckpt_text_format(lock, sizeof(lock), "%s/" CKPT_JOURNAL_CONCEALED, journal);
    fd = (int)ckpt_sys_open(lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
    if (fd < 0) {
        return fd;
    }
    error = ckpt_concealed_hold(fd);
    if (error == 0) {
        error = ckpt_concealed_make(journal, place);
    }
    if (error == 0) {
        error = restore(place, shadow, shadow + prefix);
    }
    ckpt_sys_close(fd);
    return (int)error;
}

/* Writes the path of the entry in the place. Returns 1 if it marks a removed name. */
static int is_gone(const struct ckpt_view *view, const char *name, char *shadow)
{
    struct stat status;

    ckpt_text_format(shadow, CKPT_UNDO_PATH, "%s/%s", view->shadow, name);
    return ckpt_syscall3(SYS_lstat, (long)shadow, (long)&status, 0) == 0 &&
           ckpt_view_is_gone(shadow, &status);
}

/* ---- Directories with their content ------------------------------------------ */

static int copy_special(const struct ckpt_view *view)
{
    ckpt_name_before_change(AT_FDCWD, view->shadow);
    return (int)ckpt_syscall3(SYS_mknod, (long)view->shadow, view->status.st_mode,
                              (long)view->status.st_rdev);
}

/* Copies the object into the place, unless the copy exists already. */
static int copy_object(struct ckpt_view *view)
{
    struct stat visible = view->status;
    const mode_t type = visible.st_mode & S_IFMT;
    int error = 0;

    if (view->kind == CKPT_VIEW_ABSENT || view->kind == CKPT_VIEW_CONCEALED) {
        if (view->hides &&
            ckpt_syscall3(SYS_lstat, (long)view->path, (long)&visible, 0) == 0) {
            ckpt_shadow_produced(view->path, CKPT_JOURNAL_WAS_REMOVED, &visible);
        }
        return 0;
    }
    if (type == S_IFDIR) {
        return ckpt_shadow_copy_directory(view);
    }
    error = type == S_IFREG || type == S_IFLNK ? ckpt_shadow_copy(view, 0)
                                               : copy_special(view);
    if (error == 0) {
        ckpt_shadow_produced(view->path, CKPT_JOURNAL_WAS_REMOVED, &visible);
    }
    return error;
}

static int copy_entry(const struct ckpt_directory_entry *entry, void *argument)
{
    const struct ckpt_view *directory = argument;
    struct ckpt_view *view;
    char *path;
    int error = -ENOMEM;

    if (ckpt_text_equal(entry->name, ".") || ckpt_text_equal(entry->name, "..") ||
        ckpt_text_starts(entry->name, CKPT_JOURNAL_CONCEALED_PREFIX) ||
        ckpt_text_starts(entry->name, CKPT_JOURNAL_KEPT_PREFIX)) {
        return 0;
    }
    view = ckpt_pool_alloc(&ckpt_journal_pool, sizeof(*view));
    path = ckpt_pool_alloc(&ckpt_journal_pool, CKPT_UNDO_PATH);
    if (view != NULL && path != NULL) {
        ckpt_text_format(path, CKPT_UNDO_PATH, "%s/%s", directory->path, entry->name);
        error = ckpt_view_find(AT_FDCWD, path, 0, view);
    }
    if (error == 0) {
        error = copy_object(view);
    }
    if (view != NULL) {
        ckpt_pool_free(&ckpt_journal_pool, view, sizeof(*view));
    }
    if (path != NULL) {
        ckpt_pool_free(&ckpt_journal_pool, path, CKPT_UNDO_PATH);
    }
    return error;
}

/* Removes the marks of removed objects, since nothing shows through any more. */
static int clear_entry(const struct ckpt_directory_entry *entry, void *argument)
{
    static char shadow[CKPT_UNDO_PATH];
    if (!is_gone(argument, entry->name, shadow)) {
        return 0;
    }
    ckpt_name_before_change(AT_FDCWD, shadow);
    return (int)unlink_name(shadow);
}

/* Ends the merge: the directory in the place no longer shows the visible one. */
static int separate(const struct ckpt_view *view)
{
    static char marker[CKPT_UNDO_PATH];
    long error;

    ckpt_text_format(marker, sizeof(marker), "%s/" CKPT_JOURNAL_MERGED, view->shadow);
    ckpt_name_before_change(AT_FDCWD, marker);
    error = unlink_name(marker);
    if (error == 0) {
        error = ckpt_syscall3(SYS_chmod, (long)view->shadow,
                              view->status.st_mode & 07777, 0);
    }
    return (int)error;
}

int ckpt_shadow_copy_directory(struct ckpt_view *view)
{
    const size_t length = ckpt_text_length(view->path);
    int error;

    if (view->shadow[0] == '\0' || length + 2 > CKPT_UNDO_PATH) {
        return -EXDEV;
    }
    ckpt_text_copy(view->path + length, 2, "/"); /* includes the directory itself */
    error = provide_directories(view);
    view->path[length] = '\0';
    if (error == 0) {
        error = ckpt_directory_each(view->path, copy_entry, view);
    }
    if (error == 0) {
        error = ckpt_directory_each(view->shadow, clear_entry, view);
    }
    if (error == 0) {
        error = separate(view);
    }
    if (error == 0) {
        ckpt_shadow_produced(view->path, CKPT_JOURNAL_WAS_REMOVED, &view->status);
        view->kind = CKPT_VIEW_CONCEALED;
        view->hides = 1;
    }
    return error;
}

/* ---- Removed names ---------------------------------------------------------- */

int ckpt_shadow_hide(const struct ckpt_view *view)
{
    long error = view->shadow[0] == '\0' ? -EXDEV : check_visible_directory(view);

    if (error == 0) {
        error = provide_directories(view);
    }
    if (error != 0) {
        return (int)error;
    }
    choose_temporary(view->place->directory);
    (void)unlink_name(temporary);
    error = ckpt_syscall3(SYS_symlink, (long)CKPT_JOURNAL_GONE, (long)temporary, 0);
    if (error == 0) {
        ckpt_name_before_change(AT_FDCWD, view->shadow);
        error = rename_temporary(view->shadow);
    }
    return (int)error;
}

struct emptied {
    const struct ckpt_view *view;
    int is_visible; /* the entries are those of the visible directory */
    int is_removed; /* remove the marks that are found */
};

static int see_entry(const struct ckpt_directory_entry *entry, void *argument)
{
    static char shadow[CKPT_UNDO_PATH];
    const struct emptied *emptied = argument;

    if (ckpt_text_equal(entry->name, ".") || ckpt_text_equal(entry->name, "..")) {
        return 0;
    }
    if (is_gone(emptied->view, entry->name, shadow) ||
        (!emptied->is_visible && ckpt_text_equal(entry->name, CKPT_JOURNAL_MERGED))) {
        if (emptied->is_removed) {
            ckpt_name_before_change(AT_FDCWD, shadow);
            return (int)unlink_name(shadow);
        }
        return 0;
    }
    return -ENOTEMPTY;
}

int ckpt_shadow_is_empty(const struct ckpt_view *view)
{
    struct emptied emptied = {view, 1, 0};
    int error = 0;

    if (view->kind == CKPT_VIEW_VISIBLE || view->kind == CKPT_VIEW_MERGED) {
        error = ckpt_directory_each(view->path, see_entry, &emptied);
    }
    if (error == 0 && view->kind != CKPT_VIEW_VISIBLE) {
        emptied.is_visible = 0;
        error = ckpt_directory_each(view->shadow, see_entry, &emptied);
    }
    return error == -ENOTEMPTY ? 0 : error == 0 ? 1
                                                : error;
}

int ckpt_shadow_remove_merged(const struct ckpt_view *view)
{
    struct emptied emptied = {view, 0, 1};
    int error = ckpt_directory_each(view->shadow, see_entry, &emptied);

    if (error == 0) {
        ckpt_name_before_change(AT_FDCWD, view->shadow);
        error = (int)ckpt_syscall3(SYS_rmdir, (long)view->shadow, 0, 0);
    }
    return error;
}

void ckpt_shadow_produced(const char *path, enum ckpt_journal_product product,
                          const struct stat *removed)
{
    struct ckpt_journal_record record = {.type = CKPT_JOURNAL_PRODUCED,
                                         .value = product};
    int error;

    if (removed != NULL) {
        ckpt_undo_describe(&record, removed);
    }
    error = ckpt_undo_append(&record, path, NULL, NULL);
    if (error != 0) {
        ckpt_undo_lost(path, error);
    }
}
