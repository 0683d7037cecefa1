/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * keep.c - keeps a file in its own file system, by a link, shared blocks or a copy.
 */
#include "journal/log/keep.h"

#include "base/invariant.h"
#include "base/text.h"
#include "journal/log/record_locks.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/ioctl.h>

#define PLACE_CAPACITY 8
#define COPY_SIZE      (1u << 20)

/* The directory of kept files in one file system. */
struct place {
    uint64_t device;
    char directory[CKPT_UNDO_PATH];
};

static struct place places[PLACE_CAPACITY];
static size_t place_count;

int ckpt_keep_directory(const char *path)
{
    const long error = ckpt_syscall3(SYS_mkdir, (long)path, 0700, 0);
    struct stat status;

    if (error != -EEXIST) {
        return (int)error;
    }
    if (ckpt_syscall3(SYS_lstat, (long)path, (long)&status, 0) != 0 ||
        !S_ISDIR(status.st_mode) || (status.st_mode & 077) != 0 ||
        status.st_uid != (uid_t)ckpt_syscall3(SYS_geteuid, 0, 0, 0)) {
        return -EACCES;
    }
    return 0;
}

/* Removes the last name. Returns 0 if only the root is left. */
static int go_up(char *path)
{
    size_t length = ckpt_text_length(path);

    while (length > 0 && path[length - 1] != '/') {
        length--;
    }
    if (length <= 1) {
        return 0;
    }
    path[length - 1] = '\0';
    return 1;
}

/* Finds the highest directory above `path`, on its file system, in which a directory of ours
 * can be created: the program rarely looks there. Returns 0 or -errno. */
static int find_place(const char *path, uint64_t device, struct place *place)
{
    static char above[CKPT_UNDO_PATH];
    static struct place candidate;
    struct stat status;
    int error = -EXDEV;

    ckpt_text_copy(above, sizeof(above), path);
    while (go_up(above)) {
        if (ckpt_sys_stat(above, &status) != 0 || status.st_dev != device) {
            break;
        }
        candidate.device = device;
        ckpt_text_format(candidate.directory, sizeof(candidate.directory),
                         "%s/" CKPT_JOURNAL_KEPT_PREFIX "-%x", above,
                         ckpt_text_hash(ckpt_undo_directory()));
        if (ckpt_syscall3(SYS_access, (long)above, 2 /* W_OK */, 0) == 0) {
            *place = candidate;
            error = 0;
        }
    }
    return error != 0 ? error : ckpt_keep_directory(place->directory);
}

static int is_here(const char *directory, uint64_t device)
{
    struct stat status;

    return ckpt_sys_stat(directory, &status) == 0 && status.st_dev == device;
}

/* Returns DIR/JOB/journal/kept. */
static const char *own_place(void)
{
    static char kept[CKPT_UNDO_PATH];

    ckpt_text_format(kept, sizeof(kept), "%s/kept", ckpt_undo_directory());
    return kept;
}

/* Returns the directory in which files like `path` are kept, or NULL. */
static const char *place_of(const char *path, uint64_t device)
{
    struct place *place;

    if (is_here(ckpt_undo_directory(), device)) {
        return own_place();
    }
    for (size_t i = 0; i < place_count; i++) {
        if (places[i].device == device) {
            return places[i].directory;
        }
    }
    CKPT_INVARIANT(place_count <= PLACE_CAPACITY);
    if (place_count == PLACE_CAPACITY) {
        return NULL;
    }
    place = &places[place_count];
    if (find_place(path, device, place) != 0) {
        return NULL;
    }
    place_count++;
    return place->directory;
}

static long unlink_file(const char *path)
{
    return ckpt_syscall3(SYS_unlink, (long)path, 0, 0);
}

static long link_file(const char *path, const char *kept)
{
    return ckpt_syscall3(SYS_link, (long)path, (long)kept, 0);
}

/* Copies in the kernel if possible, otherwise with reads and writes. Returns 0 or -errno. */
static int copy_bytes(int from, int to, uint64_t size)
{
    static char buffer[65536];
    uint64_t done = 0;
    long result;

    if (ckpt_sys_ioctl(to, FICLONE, (void *)(long)from) == 0) {
        return 0;
    }
    while (done < size) {
        result = ckpt_syscall6(SYS_copy_file_range, from, 0, to, 0,
                               size - done > COPY_SIZE ? COPY_SIZE
                                                       : (long)(size - done),
                               0);
        if (result <= 0) {
            break;
        }
        done += (uint64_t)result;
    }
    while (done < size) {
        result = ckpt_sys_pread(from, buffer, sizeof(buffer), (int64_t)done);
        if (result > 0) {
            const long written =
                ckpt_sys_pwrite(to, buffer, (size_t)result, (int64_t)done);

            result = written == result ? result
                     : written < 0     ? written
                                       : -ENOSPC;
            if (result == -EFBIG) { /* possibly raised by copy_file_range() before, too */
                ckpt_undo_take_size_signal();
            }
        }
        if (result == 0) {
            return -EIO; /* the file has become shorter */
        }
        if (result < 0 && result != -EINTR) {
            return (int)result;
        }
        done += result > 0 ? (uint64_t)result : 0;
    }
    return 0;
}

/* The source and target of a copy. */
struct copy {
    const char *from, *to;
    uint64_t size;
};

/* Makes the copy of a struct copy. Returns 0 or -errno. */
static int make_copy(void *argument)
{
    const struct copy *copy = argument;
    const int from =
        (int)ckpt_sys_open(copy->from, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    int to, error;

    if (from < 0) {
        return from;
    }
    to = (int)ckpt_sys_open(copy->to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    error = to < 0 ? to : copy->size == 0 ? 0
                                          : copy_bytes(from, to, copy->size);
    ckpt_sys_close(from);
    if (to >= 0) {
        ckpt_sys_close(to);
        if (error != 0) {
            (void)unlink_file(copy->to);
        }
    }
    return error;
}

int ckpt_keep_copy(const char *path, const struct stat *status, const char *to)
{
    struct copy copy = {path, to, (uint64_t)status->st_size};

    return ckpt_record_locks_spare(make_copy, &copy);
}

/* Chooses a name under which to keep the file. */
static void name_for(const char *path, const struct stat *status, char *kept)
{
    const char *directory = place_of(path, status->st_dev);

    ckpt_undo_kept_name(directory != NULL ? directory : own_place(), kept);
}

int ckpt_keep_file(const char *path, const struct stat *status, char *kept,
                   int *is_copy_p)
{
    name_for(path, status, kept);
    *is_copy_p = link_file(path, kept) != 0; /* link() fails on another mount, or if forbidden */
    return *is_copy_p ? ckpt_keep_copy(path, status, kept) : 0;
}

int ckpt_keep_content(const char *path, const struct stat *status, char *kept)
{
    name_for(path, status, kept);
    return ckpt_keep_copy(path, status, kept);
}

/* Takes a lease on the file, which the kernel grants only if no other process has the file
 * open. path: of the file. Returns 0 or -errno. */
static int take_lease(void *path)
{
    const int fd = (int)ckpt_sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    long error;

    if (fd < 0) {
        return fd;
    }
    /* If another process opens the file just now, the kernel sends a signal. SIGURG is ignored
     * by default. */
    error = ckpt_sys_fcntl(fd, F_SETSIG, SIGURG);
    if (error == 0) {
        error = ckpt_sys_fcntl(fd, F_SETLEASE, F_WRLCK);
    }
    ckpt_sys_close(fd); /* ends the lease */
    return (int)error;
}

/* Returns 1 if no process of this host has the file open, as far as the kernel can tell. */
static int is_open_nowhere(const char *path)
{
    return ckpt_record_locks_spare(take_lease, (void *)(uintptr_t)path) == 0;
}

static int has_attributes(const char *path)
{
    return ckpt_syscall3(SYS_llistxattr, (long)path, 0, 0) != 0;
}

/* Creates an empty file at `temporary` with the owner and the mode of *status. Returns 0 or
 * -errno. */
static int make_empty(const char *temporary, const struct stat *status,
                      struct stat *empty)
{
    const int fd = (int)ckpt_sys_open(
        temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    long error = fd;

    if (fd < 0) {
        return fd;
    }
    error = ckpt_syscall3(SYS_fchown, fd, status->st_uid, status->st_gid);
    if (error == 0) {
        error = ckpt_syscall3(SYS_fchmod, fd, status->st_mode & 07777, 0);
    }
    if (error == 0) {
        error = ckpt_sys_fstat(fd, empty);
    }
    ckpt_sys_close(fd);
    if (error != 0) {
        (void)unlink_file(temporary);
    }
    return (int)error;
}

/* In the journal's directory of that file system, so that a killed process leaves no visible
 * file. */
static char empty_file[CKPT_UNDO_PATH];

int ckpt_keep_to_replace(const char *path, const struct stat *status,
                         char *kept, struct stat *empty)
{
    const char *place;

    if (status->st_nlink != 1 || has_attributes(path) ||
        !is_open_nowhere(path)) {
        return 0;
    }
    place = place_of(path, status->st_dev);
    if (place == NULL) {
        return 0;
    }
    ckpt_undo_kept_name(place, empty_file);
    if (make_empty(empty_file, status, empty) != 0) {
        return 0;
    }
    ckpt_undo_kept_name(place, kept);
    if (link_file(path, kept) != 0) {
        (void)unlink_file(empty_file);
        return 0;
    }
    return 1;
}

int ckpt_keep_replace(const char *path)
{
    const long error = ckpt_syscall3(SYS_rename, (long)empty_file, (long)path, 0);

    if (error != 0) {
        (void)unlink_file(empty_file);
    }
    return (int)error;
}
