/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * name.c - records the object of a name before the name changes.
 */
#include "journal/name.h"

#include "journal/content.h"
#include "journal/log/keep.h"
#include "journal/known.h"
#include "journal/log/undo_log.h"
#include "journal/path.h"
#include "journal/watch.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>

#define EXCHANGE 2u /* RENAME_EXCHANGE of <linux/fs.h> */

/* Path of the recorded name, and of the second name of a rename. */
static char path_of_name[CKPT_UNDO_PATH], path_of_other[CKPT_UNDO_PATH];
static char second[CKPT_UNDO_PATH]; /* path of the kept file, or target of a link */

static enum ckpt_journal_type type_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return CKPT_JOURNAL_FILE;
    case S_IFLNK:
        return CKPT_JOURNAL_SYMLINK;
    case S_IFDIR:
        return CKPT_JOURNAL_DIRECTORY;
    default:
        return CKPT_JOURNAL_SPECIAL;
    }
}

static int read_target(const char *path)
{
    const long length = ckpt_sys_readlink(path, second, sizeof(second) - 1);

    second[length > 0 ? length : 0] = '\0';
    return length < 0 ? (int)length : 0;
}

/* Fills in the fields for the type of the object. Returns 0 or -errno. */
static int prepare(const char *path, const struct stat *status,
                   struct ckpt_journal_record *record)
{
    int is_copy = 0, error = 0;

    record->type = type_of(status->st_mode);
    second[0] = '\0';
    if (record->type == CKPT_JOURNAL_FILE) {
        error = ckpt_keep_file(path, status, second, &is_copy);
        record->flags = is_copy ? CKPT_JOURNAL_IS_COPY : 0;
    } else if (record->type == CKPT_JOURNAL_SYMLINK) {
        error = read_target(path);
    } else if (record->type == CKPT_JOURNAL_SPECIAL) {
        record->value = status->st_rdev;
    }
    ckpt_undo_describe(record, status);
    return error;
}

/* Returns 1 if the file was created since the mark. A rollback removes such a file, so it is
 * not kept. */
static int is_new(const struct stat *status)
{
    const struct ckpt_known_inode *inode =
        ckpt_known_inode_find(status->st_dev, status->st_ino);

    return S_ISREG(status->st_mode) && inode != NULL &&
           (inode->flags & CKPT_INODE_NEW) != 0;
}

/* Records the name unless it is recorded already. status: NULL if the name does not exist.
 * Returns its slot, or NULL. */
static struct ckpt_known_name *record_name(const char *path,
                                           const struct stat *status)
{
    struct ckpt_journal_record record = {.type = CKPT_JOURNAL_ABSENT};
    struct ckpt_known_name *known = ckpt_known_name_find(path);
    int error = 0;

    if (known != NULL || ckpt_journal_path_is_exempt(path)) {
        return known;
    }
    if (status != NULL && !is_new(status)) {
        error = prepare(path, status, &record);
    }
    if (error == 0) {
        error = ckpt_undo_append(
            &record, path,
            record.type == CKPT_JOURNAL_FILE || record.type == CKPT_JOURNAL_SYMLINK
                ? second
                : NULL,
            NULL);
    }
    known = ckpt_known_name_add(path);
    if (known == NULL || error != 0) {
        ckpt_undo_lost(path, error != 0 ? error : -ENOMEM);
    }
    return known;
}

void ckpt_name_before_change(int directory, const char *path)
{
    struct ckpt_known_name *known;
    struct stat status;
    const int result =
        ckpt_journal_path(directory, path, 0, path_of_name, &status);

    if (result == 0 || result == -ENOENT) {
        known = record_name(path_of_name, result == 0 ? &status : NULL);
        if (known != NULL) {
            known->created = 0;
        }
    }
}

/* Records the old name, too. The file may change through the new name, and that may be removed
 * later; a rollback then finds the file by its old name. */
void ckpt_name_before_link(int from_directory, const char *from, int to_directory,
                           const char *to, int follow)
{
    struct stat status;

    if (ckpt_journal_path(from_directory, from, follow, path_of_name, &status) == 0 &&
        S_ISREG(status.st_mode)) {
        (void)record_name(path_of_name, &status);
    }
    ckpt_name_before_change(to_directory, to);
}

/* Records a file that the call creates. */
static void create(const char *path)
{
    struct ckpt_known_name *known = record_name(path, NULL);

    if (known != NULL) {
        known->created = 1;
    }
}

void ckpt_name_before_open(int directory, const char *path, int flags)
{
    const int follow = (flags & O_NOFOLLOW) == 0 &&
                       (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
    const int writes = (flags & O_ACCMODE) != O_RDONLY;
    struct stat status;
    int result;

    if ((flags & O_TMPFILE) == O_TMPFILE || (flags & O_PATH) != 0) {
        return;
    }
    result = ckpt_journal_path(directory, path, follow, path_of_name, &status);
    if (result == -ENOENT && (flags & O_CREAT) != 0) {
        create(path_of_name);
    } else if (result == 0 && S_ISREG(status.st_mode) &&
               (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL) &&
               (flags & O_TRUNC) != 0) {
        ckpt_content_before_cut_path(path_of_name, &status, 0);
    }
    if ((result == 0 && S_ISREG(status.st_mode)) ||
        (result == -ENOENT && (flags & O_CREAT) != 0)) {
        ckpt_watch_add(path_of_name, writes || (flags & O_TRUNC) != 0);
    }
}

/* Records the rename of a directory with its content. */
static void record_move(const char *from, const struct stat *status,
                        const char *to, int is_exchange)
{
    struct ckpt_journal_record record = {
        .type = CKPT_JOURNAL_MOVED,
        .flags = is_exchange ? CKPT_JOURNAL_EXCHANGED : 0};
    int error;

    ckpt_undo_describe(&record, status);
    error = ckpt_undo_append(&record, from, to, NULL);
    if (error != 0) {
        ckpt_undo_lost(from, error);
    }
    ckpt_undo_moved();
}

/* Marks the inode of a file that this process has created as new; until now only its name is
 * known. */
static void settle(const char *path, const struct stat *status)
{
    struct ckpt_known_name *known = ckpt_known_name_find(path);
    struct ckpt_known_inode *inode;

    if (known != NULL && known->created && S_ISREG(status->st_mode)) {
        known->created = 0;
        inode = ckpt_known_inode_add(status->st_dev, status->st_ino);
        if (inode != NULL) {
            inode->flags = CKPT_INODE_WHOLE | CKPT_INODE_NEW;
        }
    }
}

void ckpt_name_before_rename(int from_directory, const char *from,
                             int to_directory, const char *to, unsigned flags)
{
    struct stat status, target;
    struct ckpt_known_name *known;
    int result = ckpt_journal_path(from_directory, from, 0, path_of_name, &status);
    const int target_result =
        ckpt_journal_path(to_directory, to, 0, path_of_other, &target);
    const int is_exchange = (flags & EXCHANGE) != 0;

    if (result != 0 || (target_result != 0 && target_result != -ENOENT) ||
        (is_exchange && target_result != 0)) {
        return; /* the call will fail */
    }
    settle(path_of_name, &status);
    if (is_exchange && !S_ISDIR(status.st_mode) && S_ISDIR(target.st_mode)) {
        /* The record describes the directory, which keeps its inode. */
        record_move(path_of_other, &target, path_of_name, 1);
        ckpt_known_forget_names();
        return;
    }
    if (S_ISDIR(status.st_mode)) {
        if (!is_exchange) {
            (void)record_name(path_of_other,
                              target_result == 0 ? &target : NULL);
        }
        record_move(path_of_name, &status, path_of_other, is_exchange);
        ckpt_known_forget_names();
        return;
    }
    (void)record_name(path_of_name, &status);
    known = record_name(path_of_other, target_result == 0 ? &target : NULL);
    if (known != NULL) {
        known->created = 0;
    }
    if (!is_exchange) {
        ckpt_watch_add(path_of_other, 1);
    }
}
