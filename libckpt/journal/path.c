/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * path.c - finds the absolute path of the object that a system call names.
 */
#include "journal/path.h"

#include "base/invariant.h"
#include "base/text.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define MOST_LINKS 40 /* the kernel's limit */

int ckpt_journal_path_is_exempt(const char *path)
{
    const char *journal = ckpt_undo_directory();
    const size_t length = ckpt_text_length(journal);

    return ckpt_text_starts(path, "/proc/") || ckpt_text_starts(path, "/dev/") ||
           ckpt_text_starts(path, "/sys/") ||
           (length != 0 && ckpt_text_starts(path, journal) &&
            (path[length] == '/' || path[length] == '\0'));
}

long ckpt_journal_descriptor_link(int fd, char *found)
{
    char link[64];
    long length;

    ckpt_text_format(link, sizeof(link), "/proc/self/fd/%d", fd);
    length = ckpt_sys_readlink(link, found, CKPT_UNDO_PATH - 1);
    found[length > 0 ? length : 0] = '\0';
    return length;
}

int ckpt_journal_descriptor_path(int fd, char *found)
{
    struct stat named, opened;
    const long length = ckpt_journal_descriptor_link(fd, found);

    if (length < 0) {
        return (int)length;
    }
    if (ckpt_sys_stat(found, &named) != 0 || ckpt_sys_fstat(fd, &opened) != 0 ||
        named.st_ino != opened.st_ino || named.st_dev != opened.st_dev) {
        return -ENOENT;
    }
    return 0;
}

/* Appends a component to a path. Returns 0 or -ENAMETOOLONG. */
static int append(char *path, const char *part)
{
    const size_t length = ckpt_text_length(path);
    const int needs_slash = length == 0 || path[length - 1] != '/';

    CKPT_INVARIANT(length < CKPT_UNDO_PATH);
    if (length + ckpt_text_length(part) + 2 > CKPT_UNDO_PATH) {
        return -ENAMETOOLONG;
    }
    ckpt_text_format(path + length, CKPT_UNDO_PATH - length, "%s%s",
                     needs_slash ? "/" : "", part);
    return 0;
}

int ckpt_journal_base(int directory, char *found)
{
    const long length = directory == AT_FDCWD
                            ? ckpt_sys_getcwd(found, CKPT_UNDO_PATH)
                            : ckpt_journal_descriptor_link(directory, found);

    return length < 0 ? (int)length : 0;
}

/* Returns the last name of a path, possibly followed by slashes. */
static const char *last_name(const char *path)
{
    const char *end = path + ckpt_text_length(path);

    while (end > path && end[-1] == '/') {
        end--;
    }
    while (end > path && end[-1] != '/') {
        end--;
    }
    return end;
}

/* Returns 1 if a component of the path is ".", ".." or empty. */
static int has_detours(const char *path)
{
    for (const char *at = path; *at != '\0'; at++) {
        if ((at == path || at[-1] == '/') &&
            ((at[0] == '.' && (at[1] == '/' || at[1] == '\0' ||
                               (at[1] == '.' && (at[2] == '/' || at[2] == '\0')))) ||
             (at[0] == '/' && at != path))) {
            return 1;
        }
    }
    return 0;
}

/* Finds the kernel's path of a directory. Returns 0 or -errno. */
static int resolve_directory(const char *path, char *found)
{
    const int fd =
        (int)ckpt_sys_open(path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    int error;

    if (fd < 0) {
        return fd;
    }
    error = ckpt_journal_base(fd, found);
    ckpt_sys_close(fd);
    return error;
}

/* Removes ".", ".." and doubled slashes with the kernel's help. Returns 0 or -errno. */
static int straighten(char *path)
{
    static char parent[CKPT_UNDO_PATH], name[CKPT_UNDO_PATH];
    size_t length;
    int error;

    ckpt_text_copy(name, sizeof(name), last_name(path));
    for (length = ckpt_text_length(name); length > 0 && name[length - 1] == '/';) {
        name[--length] = '\0';
    }
    if (ckpt_text_equal(name, ".") || ckpt_text_equal(name, "..") ||
        length == 0) { /* a directory */
        error = resolve_directory(path, parent);
        ckpt_text_copy(path, CKPT_UNDO_PATH, parent);
        return error;
    }
    ckpt_text_copy(parent, (size_t)(last_name(path) - path) + 1, path);
    error = resolve_directory(parent, path);
    return error != 0 ? error : append(path, name);
}

/* Makes the path absolute. Returns 0 or -errno. */
static int make_absolute(int directory, const char *path, char *found)
{
    int error = 0;

    found[0] = '\0';
    if (path[0] == '/') {
        if (ckpt_text_copy(found, CKPT_UNDO_PATH, path) !=
            ckpt_text_length(path)) {
            return -ENAMETOOLONG;
        }
    } else {
        error = ckpt_journal_base(directory, found);
        if (error == 0 && path[0] != '\0') {
            error = append(found, path);
        }
    }
    if (error == 0 && (has_detours(found) ||
                       found[ckpt_text_length(found) - 1] == '/')) {
        error = straighten(found);
    }
    return error;
}

/* Replaces the symbolic link `found` with its target. Returns 0 or -errno. */
static int follow_link(char *found)
{
    static char target[CKPT_UNDO_PATH], base[CKPT_UNDO_PATH];
    const long length = ckpt_sys_readlink(found, target, sizeof(target) - 1);
    const char *name = last_name(found);

    if (length < 0) {
        return (int)length;
    }
    target[length] = '\0';
    if (target[0] == '/') {
        ckpt_text_copy(found, CKPT_UNDO_PATH, target);
    } else {
        ckpt_text_copy(base, (size_t)(name - found) + 1, found);
        ckpt_text_copy(found, CKPT_UNDO_PATH, base);
        if (append(found, target) != 0) {
            return -ENAMETOOLONG;
        }
    }
    return straighten(found);
}

static int look(const char *path, struct stat *status)
{
    return (int)ckpt_syscall3(SYS_lstat, (long)path, (long)status, 0);
}

int ckpt_journal_path(int directory, const char *path, int follow, char *found,
                      struct stat *status)
{
    /* The kernel reads the program's pointer first, since it may be invalid. */
    int result = (int)ckpt_syscall4(SYS_newfstatat, directory, (long)path,
                                    (long)status, AT_SYMLINK_NOFOLLOW);
    int error;

    if (result != 0 && result != -ENOENT) {
        return result;
    }
    error = make_absolute(directory, path, found);
    if (error != 0) {
        return error;
    }
    for (int i = 0; i < MOST_LINKS && follow && result == 0 &&
                    S_ISLNK(status->st_mode);
         i++) {
        error = follow_link(found);
        if (error != 0) {
            return error == -ENOENT ? -ENOTDIR : error; /* the target's directory does not exist */
        }
        result = look(found, status);
    }
    return result;
}
