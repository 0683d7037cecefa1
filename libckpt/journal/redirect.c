/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * redirect.c - applies each system call with a path to concealed objects.
 *
 * A call that neither meets nor creates a concealed object goes to the kernel unchanged. This
 * file makes all other calls with changed paths, under the lock of the concealed objects.
 */
#include "journal/redirect.h"

#include "base/text.h"
#include "journal/content.h"
#include "journal/descriptor.h"
#include "journal/listing.h"
#include "journal/name.h"
#include "journal/shadow.h"
#include "journal/view.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

/* The arguments of a system call, as the kernel gets them. */
struct arguments {
    int64_t value[6];
};

/* Indices of the arguments that are a directory, a path and flags; -1: none. */
struct shape {
    int directory, path, flags;
    int follow; /* follows a final symbolic link, unless the flags have AT_SYMLINK_NOFOLLOW */
};

static struct ckpt_view view, target; /* Results of the present lookups; the journal's lock
                                         guards them. */

static void done(struct ckpt_journal_call *call, long result)
{
    call->is_done = 1;
    call->result = result;
}

static struct arguments arguments_of(const struct ckpt_journal_call *call)
{
    return (struct arguments){
        {call->rdi, call->rsi, call->rdx, call->r10, call->r8, call->r9}};
}

static long run(const struct ckpt_journal_call *call, const struct arguments *with)
{
    return ckpt_syscall6((long)call->site->number, with->value[0], with->value[1],
                         with->value[2], with->value[3], with->value[4],
                         with->value[5]);
}

/* Makes the call with another path. An absolute path ignores the directory. */
static long run_at(const struct ckpt_journal_call *call, const struct shape *shape,
                   const char *path)
{
    struct arguments with = arguments_of(call);

    with.value[shape->path] = (int64_t)path;
    return run(call, &with);
}

/* Reports the first object that cannot be concealed. */
static void tell_at_once(const char *path, long error)
{
    static char line[CKPT_UNDO_PATH + 200];
    static int is_told;

    if (!is_told) {
        is_told = 1;
        (void)ckpt_sys_write(
            2, line,
            ckpt_text_format(line, sizeof(line),
                             "ckpt: a change of %s is not concealed, others see it "
                             "at once (error %l)\n",
                             path, -error));
    }
}

/* Lets the kernel make the call; if the object is under another path, makes it with that path. */
static void leave(struct ckpt_journal_call *call, const struct shape *shape)
{
    if (view.is_moved && !view.is_exempt) {
        done(call, run_at(call, shape, view.path));
    }
}

/* Looks the call's path up. Returns 1 to continue, 0 if nothing remains to be done. */
static int find(struct ckpt_journal_call *call, const struct shape *shape, int follow)
{
    const struct arguments given = arguments_of(call);
    const int directory =
        shape->directory < 0 ? AT_FDCWD : (int)given.value[shape->directory];
    const int error = ckpt_view_find(directory, (const char *)given.value[shape->path],
                                     follow, &view);

    if (error != 0) {
        if (view.is_below) {
            done(call, error);
        }
        return 0;
    }
    return !view.is_exempt;
}

static int is_there(const struct ckpt_view *of)
{
    return of->kind != CKPT_VIEW_ABSENT;
}

static int is_directory(const struct ckpt_view *of)
{
    return is_there(of) && S_ISDIR(of->status.st_mode);
}

/* Returns 1 if the object does not exist for the program, but may exist for the kernel. */
static int is_hidden(const struct ckpt_view *of)
{
    return !is_there(of) && (of->hides || of->is_below);
}

/* Returns 1 if the call follows a symbolic link at the end of its path. */
static int follows(const struct ckpt_journal_call *call, const struct shape *shape)
{
    const struct arguments given = arguments_of(call);

    return shape->follow &&
           (shape->flags < 0 ||
            (given.value[shape->flags] & AT_SYMLINK_NOFOLLOW) == 0);
}

/* ---- Calls that only read ---------------------------------------------------- */

static void look(struct ckpt_journal_call *call, const struct shape *shape)
{
    if (!find(call, shape, follows(call, shape))) {
        return;
    }
    if (view.kind == CKPT_VIEW_CONCEALED) {
        done(call, run_at(call, shape, view.shadow));
    } else if (is_hidden(&view)) {
        done(call, -ENOENT);
    } else {
        leave(call, shape);
    }
}

/* Removes the location of concealed files from links in /proc. */
static void read_link(struct ckpt_journal_call *call, const struct shape *shape)
{
    const struct arguments given = arguments_of(call);
    char *text = (char *)given.value[shape->path + 1];
    static char found[CKPT_UNDO_PATH];
    long length;

    look(call, shape);
    if (call->is_done || !view.is_exempt) {
        return;
    }
    length = run(call, &given);
    if (length > 0 && (size_t)length < sizeof(found)) {
        memcpy(found, text, (size_t)length);
        found[length] = '\0';
        ckpt_concealed_strip(found);
        length = (long)ckpt_text_length(found);
        memcpy(text, found, (size_t)length);
    }
    done(call, length);
}

static void get_directory(struct ckpt_journal_call *call)
{
    const struct arguments given = arguments_of(call);
    long length = run(call, &given);

    if (length > 0) {
        ckpt_concealed_strip((char *)call->rdi);
        length = (long)ckpt_text_length((char *)call->rdi) + 1;
    }
    done(call, length);
}

/* ---- Files --------------------------------------------------------------------- */

/* Returns 1 if the user may write the visible file, so that it is copied before the change. */
static int may_write(const char *path)
{
    return ckpt_syscall4(SYS_faccessat2, AT_FDCWD, (long)path, 2 /* W_OK */,
                         AT_EACCESS) == 0;
}

/* Makes a visible object a concealed one. Returns 1 on success. */
static int conceal(struct ckpt_view *of, int is_emptied)
{
    const int error = is_directory(of) ? ckpt_shadow_copy_directory(of)
                                       : ckpt_shadow_copy(of, is_emptied);

    if (error != 0) {
        tell_at_once(of->path, error);
    }
    return error == 0;
}

/* Prepares a name that does not exist, or whose object the call replaces. Returns 1 if the
 * object can be created in the place. Completes the call if it must fail. */
static int prepare(struct ckpt_journal_call *call, const struct ckpt_view *of)
{
    const int error = ckpt_shadow_prepare(of);

    if (error == -EACCES || error == -EPERM || error == -EROFS) {
        done(call, error);
    } else if (error != 0) {
        tell_at_once(of->path, error);
    }
    return error == 0;
}

/* Called after the call for which the name was prepared. If that call has failed, hides the
 * visible object again. Returns the result of the call. */
static long settle(const struct ckpt_view *of, long result)
{
    struct stat status;

    if (result < 0 && of->kind == CKPT_VIEW_ABSENT && of->hides &&
        ckpt_syscall3(SYS_lstat, (long)of->shadow, (long)&status, 0) == -ENOENT) {
        const int error = ckpt_shadow_hide(of);

        if (error != 0) {
            tell_at_once(of->path, error);
        }
    }
    return result;
}

static int64_t flags_of_open(const struct ckpt_journal_call *call)
{
    return call->site->number == SYS_creat    ? O_CREAT | O_WRONLY | O_TRUNC
           : call->site->number == SYS_openat ? call->rdx
                                              : call->rsi;
}

/* Returns 1 if the file is to be opened at its path in the place. */
static int settle_open(struct ckpt_journal_call *call, int64_t flags)
{
    const int writes = (flags & O_PATH) == 0 &&
                       ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0);

    switch (view.kind) {
    case CKPT_VIEW_ABSENT:
        if ((flags & O_CREAT) != 0) {
            return prepare(call, &view);
        }
        if (is_hidden(&view)) {
            done(call, -ENOENT);
        }
        return 0;
    case CKPT_VIEW_VISIBLE:
        return writes && S_ISREG(view.status.st_mode) &&
               (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL) &&
               may_write(view.path) && conceal(&view, (flags & O_TRUNC) != 0);
    case CKPT_VIEW_CONCEALED:
        return 1;
    default:
        return 0;
    }
}

static void open_file(struct ckpt_journal_call *call)
{
    static const struct shape with_directory = {0, 1, -1, 1}, plain = {-1, 0, -1, 1};
    const struct shape *shape =
        call->site->number == SYS_openat ? &with_directory : &plain;
    const int64_t flags = flags_of_open(call);
    const int is_new = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
    const int writes = (flags & O_ACCMODE) != O_RDONLY;
    int was_there;
    long fd;

    if (!find(call, shape, (flags & O_NOFOLLOW) == 0 && !is_new)) {
        return;
    }
    was_there = is_there(&view);
    if (!settle_open(call, flags)) {
        if (!call->is_done) {
            leave(call, shape);
        }
        return;
    }
    ckpt_name_before_open(AT_FDCWD, view.shadow, (int)flags);
    fd = run_at(call, shape, view.shadow);
    if (fd >= 0 && (writes || !was_there) && !is_directory(&view)) {
        ckpt_listing_written((int)fd);
        ckpt_shadow_produced(view.path, CKPT_JOURNAL_WAS_OPENED, NULL);
    }
    done(call, settle(&view, fd));
}

/* Changes the content, mode, owner, times or extended attributes of a file. */
static void change(struct ckpt_journal_call *call, const struct shape *shape)
{
    if (arguments_of(call).value[shape->path] == 0 || /* called by futimens() */
        !find(call, shape, follows(call, shape))) {
        return;
    }
    if (is_hidden(&view)) {
        done(call, -ENOENT);
        return;
    }
    if (view.kind == CKPT_VIEW_VISIBLE && S_ISREG(view.status.st_mode)) {
        (void)conceal(&view, 0);
    }
    if (view.kind != CKPT_VIEW_CONCEALED) {
        if (is_directory(&view) && call->site->number != SYS_truncate) {
            tell_at_once(view.path, -EISDIR);
        }
        leave(call, shape);
        return;
    }
    if (call->site->number == SYS_truncate) {
        if (S_ISREG(view.status.st_mode) && call->rsi >= 0) {
            ckpt_content_before_cut_path(view.shadow, &view.status,
                                         (uint64_t)call->rsi);
        }
    } else if (ckpt_sys_stat(view.shadow, &view.status) == 0) {
        ckpt_content_before_attributes(view.shadow, &view.status);
    }
    done(call, run_at(call, shape, view.shadow));
    ckpt_shadow_produced(view.path, CKPT_JOURNAL_WAS_WRITTEN, NULL);
}

/* ---- Names --------------------------------------------------------------------- */

/* Creates a directory, a special file or a symbolic link under a name that does not exist. */
static void make(struct ckpt_journal_call *call, const struct shape *shape,
                 enum ckpt_journal_product product)
{
    if (!find(call, shape, 0)) {
        return;
    }
    if (is_there(&view)) {
        done(call, -EEXIST);
        return;
    }
    if (!prepare(call, &view)) {
        if (!call->is_done) {
            leave(call, shape);
        }
        return;
    }
    ckpt_name_before_change(AT_FDCWD, view.shadow);
    done(call, settle(&view, run_at(call, shape, view.shadow)));
    if (call->result == 0) {
        ckpt_shadow_produced(view.path, product, NULL);
    }
}

/* Removes the concealed object, and hides a visible one of that name. */
static long remove_concealed(const struct ckpt_view *of)
{
    long error = 0;

    ckpt_name_before_change(AT_FDCWD, of->shadow);
    if (is_directory(of)) {
        error = ckpt_syscall3(SYS_rmdir, (long)of->shadow, 0, 0);
    } else if (!of->hides) {
        error = ckpt_syscall3(SYS_unlink, (long)of->shadow, 0, 0);
    }
    return error == 0 && of->hides ? ckpt_shadow_hide(of) : error;
}

static long remove_directory(const struct ckpt_view *of)
{
    const int is_empty = ckpt_shadow_is_empty(of);
    long error = is_empty == 1 ? 0 : is_empty == 0 ? -ENOTEMPTY
                                                   : is_empty;

    if (error == 0 && of->kind == CKPT_VIEW_MERGED) {
        error = ckpt_shadow_remove_merged(of);
    }
    return error == 0 ? ckpt_shadow_hide(of) : error;
}

/* Records the removal, with the visible object that must be removed when it is revealed. */
static void produce_removal(const struct ckpt_view *of)
{
    struct stat status;
    const int is_visible =
        of->is_in_visible &&
        ckpt_syscall3(SYS_lstat, (long)of->path, (long)&status, 0) == 0;

    ckpt_shadow_produced(of->path, CKPT_JOURNAL_WAS_REMOVED,
                         is_visible ? &status : NULL);
}

static void remove_name(struct ckpt_journal_call *call, const struct shape *shape,
                        int is_rmdir)
{
    if (!find(call, shape, 0)) {
        return;
    }
    if (!is_there(&view)) {
        if (is_hidden(&view)) {
            done(call, -ENOENT);
        } else {
            leave(call, shape);
        }
        return;
    }
    if (is_rmdir != is_directory(&view)) {
        done(call, is_rmdir ? -ENOTDIR : -EISDIR);
    } else if (view.shadow[0] == '\0') {
        tell_at_once(view.path, -EXDEV);
        leave(call, shape);
    } else if (view.kind == CKPT_VIEW_CONCEALED) {
        done(call, remove_concealed(&view));
    } else {
        done(call, is_rmdir ? remove_directory(&view) : ckpt_shadow_hide(&view));
    }
    if (call->is_done && call->result == 0) {
        produce_removal(&view);
    }
}

/* Looks up both names of a rename or a link, in the kernel's order. Returns 1 to continue. */
static int find_both(struct ckpt_journal_call *call, int from_directory,
                     const char *from, int follow, int to_directory, const char *to)
{
    const int is_link = call->site->number == SYS_link || call->site->number == SYS_linkat;
    int error = ckpt_view_find(from_directory, from, follow, &view);
    int is_below = view.is_below;

    if (error == 0 && !view.is_exempt && !is_there(&view) && is_link) {
        error = -ENOENT;
    }
    if (error == 0) {
        error = ckpt_view_find(to_directory, to, 0, &target);
        is_below = target.is_below;
    }
    if (error == 0 && !view.is_exempt && !is_there(&view)) {
        error = -ENOENT;
    }
    if (error == -ENOENT || (error != 0 && is_below)) {
        done(call, error);
    }
    return error == 0;
}

/* Returns 1 if `path` is below the directory. */
static int is_below(const char *path, const char *directory)
{
    return ckpt_text_starts(path, directory) &&
           path[ckpt_text_length(directory)] == '/';
}

/* Checks whether the object may replace the target. Returns 0 or -errno. */
static long check_target(unsigned flags)
{
    int is_empty;

    if ((flags & RENAME_NOREPLACE) != 0 && is_there(&target)) {
        return -EEXIST;
    }
    if ((flags & RENAME_EXCHANGE) != 0 && !is_there(&target)) {
        return -ENOENT;
    }
    if (is_below(target.path, view.path)) {
        return -EINVAL;
    }
    if (is_below(view.path, target.path)) {
        return (flags & RENAME_EXCHANGE) != 0 ? -EINVAL : -ENOTEMPTY;
    }
    if ((flags & RENAME_EXCHANGE) != 0 || !is_there(&target)) {
        return 0;
    }
    if (is_directory(&view) != is_directory(&target)) {
        return is_directory(&target) ? -EISDIR : -ENOTDIR;
    }
    if (is_directory(&target)) {
        is_empty = ckpt_shadow_is_empty(&target);
        return is_empty == 1 ? 0 : is_empty == 0 ? -ENOTEMPTY
                                                 : is_empty;
    }
    return 0;
}

/* Returns the product for an object that gets a new name. */
static enum ckpt_journal_product product_of(const struct ckpt_view *of)
{
    return is_directory(of) ? CKPT_JOURNAL_WAS_RENAMED : CKPT_JOURNAL_WAS_WRITTEN;
}

/* Exchanges the objects of both names. */
static long exchange(void)
{
    long error;

    if (target.kind != CKPT_VIEW_CONCEALED && !conceal(&target, 0)) {
        return -EXDEV;
    }
    ckpt_name_before_rename(AT_FDCWD, view.shadow, AT_FDCWD, target.shadow,
                            RENAME_EXCHANGE);
    error = ckpt_syscall6(SYS_renameat2, AT_FDCWD, (long)view.shadow, AT_FDCWD,
                          (long)target.shadow, RENAME_EXCHANGE, 0);
    if (error == 0) {
        ckpt_shadow_produced(view.path, product_of(&target), NULL);
        ckpt_shadow_produced(target.path, product_of(&view), NULL);
    }
    return error;
}

/* Renames the concealed object to a concealed name. */
static long rename_concealed(unsigned flags)
{
    struct stat status;
    long error;

    if ((flags & RENAME_EXCHANGE) != 0) {
        return exchange();
    }
    error = ckpt_shadow_prepare(&target);
    if (error == 0 && target.kind == CKPT_VIEW_MERGED) {
        error = ckpt_shadow_remove_merged(&target);
    }
    if (error != 0) {
        return error;
    }
    ckpt_name_before_rename(AT_FDCWD, view.shadow, AT_FDCWD, target.shadow, 0);
    error = ckpt_syscall3(SYS_rename, (long)view.shadow, (long)target.shadow, 0);
    if (error != 0) {
        return settle(&target, error);
    }
    ckpt_shadow_produced(target.path, product_of(&view), NULL);
    if (view.hides && /* not if both are names of one file */
        ckpt_syscall3(SYS_lstat, (long)view.shadow, (long)&status, 0) != 0) {
        error = ckpt_shadow_hide(&view);
    }
    produce_removal(&view);
    return error;
}

static void rename_name(struct ckpt_journal_call *call, int from_directory,
                        const char *from, int to_directory, const char *to,
                        unsigned flags)
{
    long error;

    if (!find_both(call, from_directory, from, 0, to_directory, to)) {
        return;
    }
    if (view.is_exempt || target.is_exempt || view.shadow[0] == '\0' ||
        target.shadow[0] == '\0') {
        if (!view.is_exempt && view.kind == CKPT_VIEW_CONCEALED) {
            done(call, -EXDEV);
        }
        return;
    }
    if (ckpt_text_equal(view.path, target.path)) {
        done(call, (flags & RENAME_NOREPLACE) != 0 ? -EEXIST : 0);
        return;
    }
    error = check_target(flags);
    if (error != 0) {
        done(call, error);
        return;
    }
    if (view.kind != CKPT_VIEW_CONCEALED && !conceal(&view, 0)) {
        return;
    }
    ckpt_shadow_join(&target); /* the target may be another name of the same file */
    done(call, rename_concealed(flags));
}

static void link_name(struct ckpt_journal_call *call, int from_directory,
                      const char *from, int follow, int to_directory, const char *to)
{
    long error = 0;

    if (!find_both(call, from_directory, from, follow, to_directory, to) ||
        target.is_exempt) {
        return;
    }
    if (is_there(&target)) {
        done(call, -EEXIST);
        return;
    }
    if (!view.is_exempt && is_directory(&view)) {
        done(call, -EPERM);
        return;
    }
    if (!view.is_exempt && view.kind == CKPT_VIEW_VISIBLE && !conceal(&view, 0)) {
        return;
    }
    error = ckpt_shadow_prepare(&target);
    if (error == 0 && view.is_exempt) { /* a file that has no name yet */
        ckpt_name_before_change(AT_FDCWD, target.shadow);
        error = ckpt_syscall6(SYS_linkat, from_directory, (long)from, AT_FDCWD,
                              (long)target.shadow, follow ? AT_SYMLINK_FOLLOW : 0, 0);
    } else if (error == 0) {
        ckpt_name_before_link(AT_FDCWD, view.shadow, AT_FDCWD, target.shadow, 0);
        error = ckpt_syscall3(SYS_link, (long)view.shadow, (long)target.shadow, 0);
    }
    if (error == 0) {
        ckpt_shadow_produced(target.path, CKPT_JOURNAL_WAS_WRITTEN, NULL);
    }
    done(call, settle(&target, error));
}

/* ---- All calls ------------------------------------------------------------------- */

/* Handles calls that only read, or that change a file but not names. Returns 1 if it has. */
static int meet_object(struct ckpt_journal_call *call)
{
    static const struct {
        int number;
        struct shape shape;
        void (*meet)(struct ckpt_journal_call *call, const struct shape *shape);
    } calls[] = {
        {SYS_stat, {-1, 0, -1, 1}, look},
        {SYS_lstat, {-1, 0, -1, 0}, look},
        {SYS_newfstatat, {0, 1, 3, 1}, look},
        {SYS_statx, {0, 1, 2, 1}, look},
        {SYS_access, {-1, 0, -1, 1}, look},
        {SYS_faccessat, {0, 1, -1, 1}, look},
        {SYS_faccessat2, {0, 1, 3, 1}, look},
        {SYS_chdir, {-1, 0, -1, 1}, look},
        {SYS_statfs, {-1, 0, -1, 1}, look},
        {SYS_inotify_add_watch, {-1, 1, -1, 1}, look},
        {SYS_getxattr, {-1, 0, -1, 1}, look},
        {SYS_lgetxattr, {-1, 0, -1, 0}, look},
        {SYS_listxattr, {-1, 0, -1, 1}, look},
        {SYS_llistxattr, {-1, 0, -1, 0}, look},
        {SYS_readlink, {-1, 0, -1, 0}, read_link},
        {SYS_readlinkat, {0, 1, -1, 0}, read_link},
        {SYS_truncate, {-1, 0, -1, 1}, change},
        {SYS_chmod, {-1, 0, -1, 1}, change},
        {SYS_fchmodat, {0, 1, -1, 1}, change},
        {SYS_fchmodat2, {0, 1, 3, 1}, change},
        {SYS_chown, {-1, 0, -1, 1}, change},
        {SYS_lchown, {-1, 0, -1, 0}, change},
        {SYS_fchownat, {0, 1, 4, 1}, change},
        {SYS_utimensat, {0, 1, 3, 1}, change},
        {SYS_setxattr, {-1, 0, -1, 1}, change},
        {SYS_lsetxattr, {-1, 0, -1, 0}, change},
        {SYS_removexattr, {-1, 0, -1, 1}, change},
        {SYS_lremovexattr, {-1, 0, -1, 0}, change},
    };

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (call->site->number == (uint64_t)calls[i].number) {
            calls[i].meet(call, &calls[i].shape);
            return 1;
        }
    }
    return 0;
}

static void change_names(struct ckpt_journal_call *call)
{
    static const struct shape first = {-1, 0, -1, 0}, second = {0, 1, -1, 0},
                              symlink = {-1, 1, -1, 0}, symlinkat = {1, 2, -1, 0};
    const char *one = (const char *)call->rdi, *two = (const char *)call->rsi,
               *four = (const char *)call->r10;

    switch (call->site->number) {
    case SYS_open:
    case SYS_creat:
    case SYS_openat:
        open_file(call);
        break;
    case SYS_mkdir:
        make(call, &first, CKPT_JOURNAL_WAS_MADE);
        break;
    case SYS_mkdirat:
        make(call, &second, CKPT_JOURNAL_WAS_MADE);
        break;
    case SYS_mknod:
        make(call, &first, CKPT_JOURNAL_WAS_WRITTEN);
        break;
    case SYS_mknodat:
        make(call, &second, CKPT_JOURNAL_WAS_WRITTEN);
        break;
    case SYS_symlink:
        make(call, &symlink, CKPT_JOURNAL_WAS_WRITTEN);
        break;
    case SYS_symlinkat:
        make(call, &symlinkat, CKPT_JOURNAL_WAS_WRITTEN);
        break;
    case SYS_unlink:
        remove_name(call, &first, 0);
        break;
    case SYS_rmdir:
        remove_name(call, &first, 1);
        break;
    case SYS_unlinkat:
        remove_name(call, &second, (call->rdx & AT_REMOVEDIR) != 0);
        break;
    case SYS_rename:
        rename_name(call, AT_FDCWD, one, AT_FDCWD, two, 0);
        break;
    case SYS_renameat:
    case SYS_renameat2:
        rename_name(call, (int)call->rdi, two, (int)call->rdx, four,
                    call->site->number == SYS_renameat2 ? (unsigned)call->r8 : 0);
        break;
    case SYS_link:
        link_name(call, AT_FDCWD, one, 0, AT_FDCWD, two);
        break;
    case SYS_linkat:
        link_name(call, (int)call->rdi, two, (call->r8 & AT_SYMLINK_FOLLOW) != 0,
                  (int)call->rdx, four);
        break;
    default:
        break;
    }
}

static void redirect(struct ckpt_journal_call *call)
{
    if (call->site->number == SYS_getcwd) {
        get_directory(call);
    } else if (call->site->number == SYS_getdents64) {
        ckpt_listing_read(call);
    } else if (!meet_object(call)) {
        change_names(call);
    }
}

int ckpt_redirect_execute(struct ckpt_journal_call *call, char *path)
{
    static const struct shape shape = {-1, 0, -1, 1};
    int is_elsewhere = 0;

    if (!ckpt_concealed_is_on() || ckpt_concealed_lock() != 0) {
        return 0;
    }
    if (find(call, &shape, 1)) {
        if (is_hidden(&view)) {
            done(call, -ENOENT);
        } else if (view.kind == CKPT_VIEW_CONCEALED || view.is_moved) {
            ckpt_text_copy(path, CKPT_UNDO_PATH, ckpt_view_object(&view));
            is_elsewhere = 1;
        }
    }
    ckpt_concealed_unlock();
    return is_elsewhere;
}

/* Returns 0 for calls on descriptors, which work wherever the file is. */
static int has_path(long number)
{
    switch (number) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_sendfile:
    case SYS_copy_file_range:
    case SYS_splice:
    case SYS_ftruncate:
    case SYS_fallocate:
    case SYS_fchmod:
    case SYS_fchown:
    case SYS_close:
    case SYS_close_range:
    case SYS_dup2:
    case SYS_dup3:
    case SYS_lseek:
        return 0;
    default:
        return 1;
    }
}

void ckpt_redirect_call(struct ckpt_journal_call *call)
{
    int error;

    if (!ckpt_concealed_is_on() || !has_path((long)call->site->number)) {
        return;
    }
    error = ckpt_concealed_lock();
    if (error != 0) {
        tell_at_once(ckpt_undo_directory(), error);
        return;
    }
    redirect(call);
    ckpt_concealed_unlock();
}

/* Returns 1 if the MPI library must use the concealed object. */
static int is_for_mpi(int writes, int creates)
{
    if (view.kind == CKPT_VIEW_VISIBLE && writes && S_ISREG(view.status.st_mode)) {
        return may_write(view.path) && conceal(&view, 0);
    }
    if (view.kind == CKPT_VIEW_ABSENT && creates) {
        const int error = ckpt_shadow_prepare(&view);

        if (error != 0) {
            tell_at_once(view.path, error);
        }
        return error == 0;
    }
    return view.kind == CKPT_VIEW_CONCEALED || view.hides;
}

void ckpt_redirect_open(const char *path, int writes, int creates, char *found)
{
    int error;

    ckpt_text_copy(found, CKPT_UNDO_PATH, path);
    error = ckpt_concealed_is_on() ? ckpt_concealed_lock() : -ENOENT;
    if (error != 0) {
        return;
    }
    if (ckpt_view_find(AT_FDCWD, path, 1, &view) == 0 && !view.is_exempt &&
        is_for_mpi(writes, creates)) {
        ckpt_text_copy(found, CKPT_UNDO_PATH, view.shadow);
        if (writes) {
            ckpt_shadow_produced(view.path, CKPT_JOURNAL_WAS_OPENED, NULL);
        }
    }
    ckpt_concealed_unlock();
}

int ckpt_redirect_wants(long number)
{
    switch (number) {
    case SYS_stat:
    case SYS_lstat:
    case SYS_newfstatat:
    case SYS_statx:
    case SYS_access:
    case SYS_faccessat:
    case SYS_faccessat2:
    case SYS_readlink:
    case SYS_readlinkat:
    case SYS_chdir:
    case SYS_statfs:
    case SYS_inotify_add_watch:
    case SYS_getxattr:
    case SYS_lgetxattr:
    case SYS_listxattr:
    case SYS_llistxattr:
    case SYS_setxattr:
    case SYS_lsetxattr:
    case SYS_removexattr:
    case SYS_lremovexattr:
    case SYS_getcwd:
    case SYS_getdents64:
    case SYS_execve:
    case SYS_mknod:
    case SYS_fchmodat2:
        return 1;
    default:
        return 0;
    }
}
