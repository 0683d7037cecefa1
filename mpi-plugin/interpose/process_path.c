/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_path.c - libc calls that open or examine files below /proc/PID.
 *
 * PID may be the shown id of this process (libckpt/task/process_id.h). Each
 * call goes on to libc.
 *
 * Context of all functions: normal; open() also in a signal handler.
 */
#include "config.h"

#include "interpose/next.h"
#include "task/process_id.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define CAPACITY 320 /* size of a path below /proc/PID with one file name */
_Static_assert(sizeof("/proc/2147483647/task/2147483647/") + NAME_MAX <= CAPACITY,
               "a path whose id grows in the translation has room");

#define TRANSLATED(path) ckpt_process_path((path), (char[CAPACITY]){0}, CAPACITY)
#define TRANSLATED_AT(directory, path) \
    ckpt_process_path_at((directory), (path), (char[CAPACITY]){0}, CAPACITY)

/* Reads the mode argument, if the flags say that there is one. */
#define MODE_AFTER(last, flags)                                           \
    __extension__({                                                       \
        unsigned mode_ = 0;                                               \
        if (((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) == O_TMPFILE) { \
            va_list arguments_;                                           \
            va_start(arguments_, last);                                   \
            mode_ = va_arg(arguments_, unsigned);                         \
            va_end(arguments_);                                           \
        }                                                                 \
        mode_;                                                            \
    })

CKPT_INTERPOSE int open(const char *path, int flags, ...)
{
    const unsigned mode = MODE_AFTER(flags, flags);

    return CKPT_NEXT(open)(TRANSLATED(path), flags, mode);
}

CKPT_INTERPOSE int open64(const char *path, int flags, ...)
{
    const unsigned mode = MODE_AFTER(flags, flags);

    return CKPT_NEXT(open64)(TRANSLATED(path), flags, mode);
}

CKPT_INTERPOSE int openat(int directory, const char *path, int flags, ...)
{
    const unsigned mode = MODE_AFTER(flags, flags);

    return CKPT_NEXT(openat)(directory, TRANSLATED_AT(directory, path), flags,
                             mode);
}

CKPT_INTERPOSE int openat64(int directory, const char *path, int flags, ...)
{
    const unsigned mode = MODE_AFTER(flags, flags);

    return CKPT_NEXT(openat64)(directory, TRANSLATED_AT(directory, path), flags,
                               mode);
}

CKPT_INTERPOSE FILE *fopen(const char *path, const char *mode)
{
    return CKPT_NEXT(fopen)(TRANSLATED(path), mode);
}

CKPT_INTERPOSE FILE *fopen64(const char *path, const char *mode)
{
    return CKPT_NEXT(fopen64)(TRANSLATED(path), mode);
}

CKPT_INTERPOSE DIR *opendir(const char *path)
{
    return CKPT_NEXT(opendir)(TRANSLATED(path));
}

CKPT_INTERPOSE ssize_t readlink(const char *path, char *target, size_t capacity)
{
    return CKPT_NEXT(readlink)(TRANSLATED(path), target, capacity);
}

CKPT_INTERPOSE int access(const char *path, int mode)
{
    return CKPT_NEXT(access)(TRANSLATED(path), mode);
}

CKPT_INTERPOSE ssize_t readlinkat(int directory, const char *path, char *target,
                                  size_t capacity)
{
    return CKPT_NEXT(readlinkat)(directory, TRANSLATED_AT(directory, path),
                                 target, capacity);
}

CKPT_INTERPOSE int faccessat(int directory, const char *path, int mode, int flags)
{
    return CKPT_NEXT(faccessat)(directory, TRANSLATED_AT(directory, path), mode,
                                flags);
}

CKPT_INTERPOSE int stat(const char *path, struct stat *status)
{
    return CKPT_NEXT(stat)(TRANSLATED(path), status);
}

CKPT_INTERPOSE int stat64(const char *path, struct stat64 *status)
{
    return CKPT_NEXT(stat64)(TRANSLATED(path), status);
}

CKPT_INTERPOSE int lstat(const char *path, struct stat *status)
{
    return CKPT_NEXT(lstat)(TRANSLATED(path), status);
}

CKPT_INTERPOSE int lstat64(const char *path, struct stat64 *status)
{
    return CKPT_NEXT(lstat64)(TRANSLATED(path), status);
}

CKPT_INTERPOSE int fstatat(int directory, const char *path, struct stat *status,
                           int flags)
{
    return CKPT_NEXT(fstatat)(directory, TRANSLATED_AT(directory, path), status,
                              flags);
}

CKPT_INTERPOSE int fstatat64(int directory, const char *path,
                             struct stat64 *status, int flags)
{
    return CKPT_NEXT(fstatat64)(directory, TRANSLATED_AT(directory, path),
                                status, flags);
}
