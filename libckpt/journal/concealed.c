/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * concealed.c - the places of concealed outputs, and their lock.
 */
#include "journal/concealed.h"

#include "base/invariant.h"
#include "base/text.h"
#include "journal/log/keep.h"
#include "sys/descriptor.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

#define PLACE_CAPACITY 8 /* number of file systems */

static struct {
    int is_on;
    int fd;                   /* descriptor of the lock file, or -1 */
    int owner;                /* pid of the process that opened `fd` */
    int held;                 /* descriptor through which this process holds the lock */
    char job[CKPT_UNDO_PATH]; /* the job's directory */
    char name[64];            /* name of the job's place in each file system */
    struct ckpt_place place[PLACE_CAPACITY];
    size_t count; /* entries used in `place` */
    struct ckpt_place nowhere;
} concealed = {.fd = -1};

static void lock_path(char *path)
{
    ckpt_text_format(path, CKPT_UNDO_PATH, "%s/" CKPT_JOURNAL_CONCEALED,
                     ckpt_undo_directory());
}

int ckpt_concealed_open(struct ckpt_failure *failure)
{
    static char path[CKPT_UNDO_PATH];
    struct stat status;
    size_t length;
    long error;

    lock_path(path);
    error = ckpt_sys_stat(path, &status);
    concealed.is_on = error == 0;
    concealed.count = 0;
    ckpt_text_copy(concealed.job, sizeof(concealed.job), ckpt_undo_directory());
    for (length = ckpt_text_length(concealed.job);
         length > 0 && concealed.job[length - 1] != '/';) {
        length--;
    }
    concealed.job[length > 1 ? length - 1 : length] = '\0';
    ckpt_text_format(concealed.name, sizeof(concealed.name),
                     CKPT_JOURNAL_CONCEALED_PREFIX "%x",
                     ckpt_text_hash(ckpt_undo_directory()));
    return error == 0 || error == -ENOENT
               ? 0
               : ckpt_fail(failure, (int)error,
                           "%s cannot be looked at (error %l)", path, -error);
}

void ckpt_concealed_lose(void)
{
    concealed.fd = -1;
    concealed.owner = 0;
}

int ckpt_concealed_is_on(void)
{
    return concealed.is_on;
}

CKPT_GENERAL_REGISTERS int ckpt_concealed_owns_descriptor(int fd)
{
    return fd == concealed.fd && fd >= 0;
}

void ckpt_concealed_closing(int fd)
{
    if (ckpt_concealed_owns_descriptor(fd)) {
        concealed.fd = -1;
    }
}

/* ---- The lock ------------------------------------------------------------- */

static int open_lock(void)
{
    static char path[CKPT_UNDO_PATH];
    int fd;

    lock_path(path);
    fd = (int)ckpt_sys_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
    return fd < 0 ? fd : ckpt_descriptor_raise(fd);
}

/* Returns this process's descriptor of the lock file. A child of vfork() shares this memory but
 * has its own descriptors, so it must not change the parent's. */
static int lock_descriptor(void)
{
    const int process = ckpt_sys_getpid();

    if (concealed.owner != process && concealed.owner != 0) {
        return open_lock();
    }
    if (concealed.fd < 0) {
        concealed.fd = open_lock();
        concealed.owner = concealed.fd < 0 ? 0 : process;
    }
    return concealed.fd;
}

int ckpt_concealed_hold(int fd)
{
    long error;

    do {
        error = ckpt_syscall3(SYS_flock, fd, LOCK_EX, 0);
    } while (error == -EINTR);
    return (int)error;
}

int ckpt_concealed_lock(void)
{
    concealed.held = lock_descriptor();
    return concealed.held < 0 ? concealed.held : ckpt_concealed_hold(concealed.held);
}

void ckpt_concealed_unlock(void)
{
    CKPT_INVARIANT(concealed.held >= 0); /* ckpt_concealed_lock() has taken it */
    if (concealed.held == concealed.fd) {
        (void)ckpt_syscall3(SYS_flock, concealed.held, LOCK_UN, 0);
    } else {
        ckpt_sys_close(concealed.held);
    }
}

/* ---- Places --------------------------------------------------------------- */

static int is_on_device(const char *path, uint64_t device)
{
    struct stat status;

    return ckpt_sys_stat(path, &status) == 0 && status.st_dev == device;
}

/* Returns 1 if `path` is `top` or below it. */
static int is_below(const char *path, const char *top)
{
    const size_t length = ckpt_text_length(top);

    return ckpt_text_starts(path, top) &&
           (path[length] == '/' || path[length] == '\0');
}

/* Removes the last name; "" is the root. Returns 0 if the path is already "". */
static int go_up(char *path)
{
    size_t length = ckpt_text_length(path);

    if (length == 0) {
        return 0;
    }
    while (length > 0 && path[length - 1] != '/') {
        length--;
    }
    path[length > 0 ? length - 1 : 0] = '\0';
    return 1;
}

/* Finds the highest directory on the device, from `directory` up, that the user may write to. */
static void find_top(const char *directory, struct ckpt_place *place)
{
    static char above[CKPT_UNDO_PATH];
    int is_found = 0;

    ckpt_text_copy(above, sizeof(above),
                   ckpt_text_equal(directory, "/") ? "" : directory);
    ckpt_text_copy(place->top, sizeof(place->top), above);
    do {
        const char *name = above[0] == '\0' ? "/" : above;

        if (!is_on_device(name, place->device)) {
            break;
        }
        if (ckpt_syscall3(SYS_access, (long)name, 2 /* W_OK */, 0) == 0) {
            ckpt_text_copy(place->top, sizeof(place->top), above);
            is_found = 1;
        }
    } while (go_up(above));
    place->directory[0] = '\0';
    if (is_found) {
        ckpt_text_format(place->directory, sizeof(place->directory), "%s/%s",
                         place->top, concealed.name);
    }
}

struct ckpt_place *ckpt_concealed_place(const char *directory, uint64_t device)
{
    struct ckpt_place *place;

    for (size_t i = 0; i < concealed.count; i++) {
        place = &concealed.place[i];
        if (place->device == device && is_below(directory, place->top)) {
            return place;
        }
    }
    CKPT_INVARIANT(concealed.count <= PLACE_CAPACITY);
    if (concealed.count == PLACE_CAPACITY) {
        return &concealed.nowhere;
    }
    place = &concealed.place[concealed.count];
    place->device = device;
    place->is_made = 0;
    if (is_on_device(concealed.job, device)) {
        place->top[0] = '\0';
        ckpt_text_format(place->directory, sizeof(place->directory), "%s/%s",
                         concealed.job, concealed.name);
    } else {
        find_top(directory, place);
    }
    if (place->directory[0] == '\0') { /* not cached: a directory below may have a place */
        return &concealed.nowhere;
    }
    concealed.count++;
    return place;
}

int ckpt_concealed_exists(struct ckpt_place *place)
{
    struct stat status;

    if (!place->is_made && place->directory[0] != '\0') {
        place->is_made =
            ckpt_syscall3(SYS_lstat, (long)place->directory, (long)&status, 0) == 0 &&
            S_ISDIR(status.st_mode);
    }
    return place->is_made;
}

/* Creates the link DIR/JOB/journal/place-HASH to the directory. Returns 0 or -errno. */
static int note(const char *journal, const char *directory)
{
    static char path[CKPT_UNDO_PATH];
    long error;

    ckpt_text_format(path, sizeof(path), "%s/" CKPT_JOURNAL_PLACE_PREFIX "%x", journal,
                     ckpt_text_hash(directory));
    error = ckpt_syscall3(SYS_symlink, (long)directory, (long)path, 0);
    return error == -EEXIST ? 0 : (int)error;
}

int ckpt_concealed_make(const char *journal, const char *directory)
{
    const int error = note(journal, directory);

    return error != 0 ? error : ckpt_keep_directory(directory);
}

int ckpt_concealed_provide(struct ckpt_place *place)
{
    int error = 0;

    if (place->directory[0] == '\0') {
        return -EACCES;
    }
    if (!place->is_made) {
        error = ckpt_concealed_make(ckpt_undo_directory(), place->directory);
        place->is_made = error == 0;
    }
    return error;
}

/* ---- Paths ---------------------------------------------------------------- */

/* Finds a place of any job, since the job's directory, and with it the name, may have moved. */
size_t ckpt_concealed_prefix(const char *path)
{
    static const char name[] = "/" CKPT_JOURNAL_CONCEALED_PREFIX;

    for (const char *at = path; *at != '\0'; at++) {
        const char *end;
        uint64_t hash;

        if (at[0] != '/' || !ckpt_text_starts(at, name)) {
            continue;
        }
        end = ckpt_text_hexadecimal(at + sizeof(name) - 1, &hash);
        if (end != NULL && (*end == '/' || *end == '\0')) {
            return (size_t)(end - path);
        }
    }
    return 0;
}

void ckpt_concealed_strip(char *path)
{
    const size_t prefix = ckpt_concealed_prefix(path);

    if (prefix != 0) {
        CKPT_INVARIANT(prefix <= ckpt_text_length(path));
        memmove(path, path + prefix, ckpt_text_length(path + prefix) + 1);
        if (path[0] == '\0') {
            ckpt_text_copy(path, 2, "/");
        }
    }
}

int ckpt_concealed_is_exempt(const char *path)
{
    return is_below(path, "/proc") || is_below(path, "/dev") ||
           is_below(path, "/sys") ||
           (concealed.job[0] != '\0' && is_below(path, concealed.job));
}
