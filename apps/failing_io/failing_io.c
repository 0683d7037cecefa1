/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failing_io.c - preloaded library: below some directories, calls of ckpt's own programs on files
 * fail at random, or do less than requested.
 *
 *   FAILING_IO_DIRS  the directories, with colons between them
 *   FAILING_IO_SEED  of the random numbers; each process has its own sequence
 *   FAILING_IO_RATE  how many of 10000 calls fail
 *   FAILING_IO_LOG   if set: a file that gets a line for each failing call
 *   FAILING_IO_SLOW  if set: while a file of this name exists, a write to the disk takes seconds
 *
 * Errors are those that the call may return: EIO, ENOSPC, ESTALE or EINTR. A failing call that
 * changes something may have made the change, as over a network. A caller that retries after EINTR
 * could then change a name twice, so calls that change names never return EINTR. In other programs,
 * such as the application, no call fails.
 */
#include "failing_io/failing_io.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* ---- Calls on names ------------------------------------------------------------------ */

static mode_t mode_of(int flags, va_list arguments)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

/* A failing call that creates a file may have created it. */
static int open_at(int directory, const char *path, int flags, mode_t mode)
{
    const enum kind kind = (flags & O_CREAT) != 0 ? MAKES_FILE : OPENS;

    if (failing_name(kind, "open", directory, path)) {
        const int error = errno;
        if (kind == MAKES_FILE && failing_by_half()) {
            const int fd = (int)syscall(SYS_openat, directory, path, flags, mode);
            if (fd >= 0) {
                (void)syscall(SYS_close, fd);
            }
        }
        errno = error;
        return -1;
    }
    return (int)syscall(SYS_openat, directory, path, flags, mode);
}

#define OPEN(name)                                      \
    EXPORTED int name(const char *path, int flags, ...) \
    {                                                   \
        va_list arguments;                              \
        va_start(arguments, flags);                     \
        const mode_t mode = mode_of(flags, arguments);  \
        va_end(arguments);                              \
        return open_at(AT_FDCWD, path, flags, mode);    \
    }
#define OPENAT(name)                                                   \
    EXPORTED int name(int directory, const char *path, int flags, ...) \
    {                                                                  \
        va_list arguments;                                             \
        va_start(arguments, flags);                                    \
        const mode_t mode = mode_of(flags, arguments);                 \
        va_end(arguments);                                             \
        return open_at(directory, path, flags, mode);                  \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

/* A change of names: the error may come after the change. */
#define CHANGE(what, directory, path, ...)                       \
    do {                                                         \
        if (failing_name(CHANGES_NAME, what, directory, path)) { \
            const int error = errno;                             \
            if (failing_by_half()) {                             \
                (void)syscall(__VA_ARGS__);                      \
            }                                                    \
            errno = error;                                       \
            return -1;                                           \
        }                                                        \
        return (int)syscall(__VA_ARGS__);                        \
    } while (0)

EXPORTED int mkdir(const char *path, mode_t mode)
{
    CHANGE("mkdir", AT_FDCWD, path, SYS_mkdir, path, mode);
}

EXPORTED int rmdir(const char *path)
{
    CHANGE("rmdir", AT_FDCWD, path, SYS_rmdir, path);
}

EXPORTED int unlink(const char *path)
{
    CHANGE("unlink", AT_FDCWD, path, SYS_unlink, path);
}

EXPORTED int unlinkat(int directory, const char *path, int flags)
{
    CHANGE("unlink", directory, path, SYS_unlinkat, directory, path, flags);
}

EXPORTED int remove(const char *path)
{
    struct stat status;

    if (syscall(SYS_newfstatat, AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) < 0) {
        return -1;
    }
    return S_ISDIR(status.st_mode) ? rmdir(path) : unlink(path);
}

EXPORTED int rename(const char *from, const char *to)
{
    CHANGE("rename", AT_FDCWD, to, SYS_rename, from, to);
}

EXPORTED int renameat(int from_directory, const char *from, int to_directory, const char *to)
{
    CHANGE("rename", to_directory, to, SYS_renameat, from_directory, from, to_directory, to);
}

EXPORTED int renameat2(int from_directory, const char *from, int to_directory, const char *to,
                       unsigned flags)
{
    CHANGE("rename", to_directory, to, SYS_renameat2, from_directory, from, to_directory, to,
           flags);
}

EXPORTED int link(const char *from, const char *to)
{
    CHANGE("link", AT_FDCWD, to, SYS_link, from, to);
}

EXPORTED int linkat(int from_directory, const char *from, int to_directory, const char *to,
                    int flags)
{
    CHANGE("link", to_directory, to, SYS_linkat, from_directory, from, to_directory, to, flags);
}

EXPORTED int symlink(const char *target, const char *path)
{
    CHANGE("symlink", AT_FDCWD, path, SYS_symlink, target, path);
}

/* ---- Calls that read metadata -------------------------------------------------------- */

/* `struct stat` of x86-64 is the kernel's. */
static int look(int directory, const char *path, struct stat *status, int flags)
{
    const int is_by_descriptor = (flags & AT_EMPTY_PATH) != 0 && path[0] == '\0';

    if (is_by_descriptor ? failing_file(LOOKS, "fstat", directory)
                         : failing_name(LOOKS, "stat", directory, path)) {
        return -1;
    }
    return (int)syscall(SYS_newfstatat, directory, path, status, flags);
}

#define STATS(type, stat_name, lstat_name, fstat_name, fstatat_name)                    \
    EXPORTED int stat_name(const char *path, type *status)                              \
    {                                                                                   \
        return look(AT_FDCWD, path, (struct stat *)status, 0);                          \
    }                                                                                   \
    EXPORTED int lstat_name(const char *path, type *status)                             \
    {                                                                                   \
        return look(AT_FDCWD, path, (struct stat *)status, AT_SYMLINK_NOFOLLOW);        \
    }                                                                                   \
    EXPORTED int fstat_name(int fd, type *status)                                       \
    {                                                                                   \
        return look(fd, "", (struct stat *)status, AT_EMPTY_PATH);                      \
    }                                                                                   \
    EXPORTED int fstatat_name(int directory, const char *path, type *status, int flags) \
    {                                                                                   \
        return look(directory, path, (struct stat *)status, flags);                     \
    }
STATS(struct stat, stat, lstat, fstat, fstatat)
STATS(struct stat64, stat64, lstat64, fstat64, fstatat64)

EXPORTED int statx(int directory, const char *path, int flags, unsigned mask,
                   struct statx *status)
{
    const int is_by_descriptor = (flags & AT_EMPTY_PATH) != 0 && path[0] == '\0';

    if (is_by_descriptor ? failing_file(LOOKS, "statx", directory)
                         : failing_name(LOOKS, "statx", directory, path)) {
        return -1;
    }
    return (int)syscall(SYS_statx, directory, path, flags, mask, status);
}

EXPORTED DIR *opendir(const char *path)
{
    static DIR *(*next)(const char *);

    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "opendir");
    }
    return failing_name(OPENS, "opendir", AT_FDCWD, path) ? NULL : next(path);
}

#define READDIR(type, name)                                                         \
    EXPORTED type *name(DIR *stream)                                                \
    {                                                                               \
        static type *(*next)(DIR *);                                                \
        if (next == NULL) {                                                         \
            *(void **)&next = dlsym(RTLD_NEXT, #name);                              \
        }                                                                           \
        return failing_file(LOOKS, "readdir", dirfd(stream)) ? NULL : next(stream); \
    }
READDIR(struct dirent, readdir)
READDIR(struct dirent64, readdir64)

/* ---- Calls on open files ------------------------------------------------------------- */

EXPORTED ssize_t read(int fd, void *buffer, size_t size)
{
    return failing_transfer(READS, "read", fd, &size) ? -1 : syscall(SYS_read, fd, buffer, size);
}

#define PREAD(name, offset_type)                                                 \
    EXPORTED ssize_t name(int fd, void *buffer, size_t size, offset_type offset) \
    {                                                                            \
        return failing_transfer(READS, "pread", fd, &size)                       \
                   ? -1                                                          \
                   : syscall(SYS_pread64, fd, buffer, size, offset);             \
    }
PREAD(pread, off_t)
PREAD(pread64, off64_t)

EXPORTED ssize_t write(int fd, const void *buffer, size_t size)
{
    return failing_transfer(WRITES, "write", fd, &size) ? -1
                                                        : syscall(SYS_write, fd, buffer, size);
}

/* The data may be written before the error. */
#define PWRITE(name, offset_type)                                                      \
    EXPORTED ssize_t name(int fd, const void *buffer, size_t size, offset_type offset) \
    {                                                                                  \
        const size_t all = size;                                                       \
        if (failing_transfer(WRITES, "pwrite", fd, &size)) {                           \
            const int error = errno;                                                   \
            if (error != EINTR && failing_by_half()) {                                 \
                (void)syscall(SYS_pwrite64, fd, buffer, all / 2, offset);              \
            }                                                                          \
            errno = error;                                                             \
            return -1;                                                                 \
        }                                                                              \
        return syscall(SYS_pwrite64, fd, buffer, size, offset);                        \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

/* Transfers all parts, or a short count within the first part. */
static ssize_t transfer_parts(enum kind kind, const char *what, long number, int fd,
                              const struct iovec *parts, int count)
{
    size_t first = count > 0 ? parts[0].iov_len : 0;

    if (failing_transfer(kind, what, fd, &first)) {
        return -1;
    }
    if (count > 0 && first < parts[0].iov_len) {
        const struct iovec part = {parts[0].iov_base, first};
        return syscall(number, fd, &part, 1);
    }
    return syscall(number, fd, parts, count);
}

EXPORTED ssize_t readv(int fd, const struct iovec *parts, int count)
{
    return transfer_parts(READS, "readv", SYS_readv, fd, parts, count);
}

EXPORTED ssize_t writev(int fd, const struct iovec *parts, int count)
{
    return transfer_parts(WRITES, "writev", SYS_writev, fd, parts, count);
}

EXPORTED ssize_t copy_file_range(int from, off64_t *from_offset, int to, off64_t *to_offset,
                                 size_t size, unsigned flags)
{
    return failing_transfer(WRITES, "copy_file_range", to, &size)
               ? -1
               : syscall(SYS_copy_file_range, from, from_offset, to, to_offset, size, flags);
}

EXPORTED ssize_t sendfile(int to, int from, off_t *offset, size_t size)
{
    return failing_transfer(WRITES, "sendfile", to, &size)
               ? -1
               : syscall(SYS_sendfile, to, from, offset, size);
}

EXPORTED int fsync(int fd)
{
    wait_if_slow(fd);
    return failing_file(SYNCS, "fsync", fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

EXPORTED int fdatasync(int fd)
{
    wait_if_slow(fd);
    return failing_file(SYNCS, "fdatasync", fd) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

EXPORTED int syncfs(int fd)
{
    return failing_file(SYNCS, "syncfs", fd) ? -1 : (int)syscall(SYS_syncfs, fd);
}

/* The descriptor is closed in any case, as on Linux. */
EXPORTED int close(int fd)
{
    const int fails = failing_file(SYNCS, "close", fd);
    const int error = errno;
    const int result = (int)syscall(SYS_close, fd);

    if (fails) {
        errno = error;
        return -1;
    }
    return result;
}

#define TRUNCATE(name, offset_type)                                                             \
    EXPORTED int name(int fd, offset_type length)                                               \
    {                                                                                           \
        return failing_file(WRITES, "ftruncate", fd) ? -1                                       \
                                                     : (int)syscall(SYS_ftruncate, fd, length); \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define ALLOCATE(name, offset_type)                                             \
    EXPORTED int name(int fd, int mode, offset_type offset, offset_type length) \
    {                                                                           \
        return failing_file(WRITES, "fallocate", fd)                            \
                   ? -1                                                         \
                   : (int)syscall(SYS_fallocate, fd, mode, offset, length);     \
    }
ALLOCATE(fallocate, off_t)
ALLOCATE(fallocate64, off64_t)

EXPORTED int flock(int fd, int operation)
{
    return failing_file(LOCKS, "flock", fd) ? -1 : (int)syscall(SYS_flock, fd, operation);
}

static int is_lock(int command)
{
    switch (command) {
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
        return 1;
    default:
        return 0;
    }
}

#define FCNTL(name)                                                  \
    EXPORTED int name(int fd, int command, ...)                      \
    {                                                                \
        va_list arguments;                                           \
        va_start(arguments, command);                                \
        void *const argument = va_arg(arguments, void *);            \
        va_end(arguments);                                           \
        return is_lock(command) && failing_file(LOCKS, "lock", fd)   \
                   ? -1                                              \
                   : (int)syscall(SYS_fcntl, fd, command, argument); \
    }
FCNTL(fcntl)
FCNTL(fcntl64)
