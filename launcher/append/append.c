/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * append.c - a library that is preloaded into the launcher of a restart. It makes the
 * launcher append to the files that receive the output of ranks (mpirun --output-filename
 * and similar options).
 *
 * A launcher truncates such a file when it opens it. If a path that the launcher opens for
 * writing is listed in CKPT_APPEND, this library opens it for appending instead.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* Prefixes of absolute paths, separated by colons. */
#define VARIABLE "CKPT_APPEND"

static int is_listed(const char *path, const char *list)
{
    while (list != NULL && *list != '\0') {
        const size_t length = strcspn(list, ":");

        if (length != 0 && strncmp(path, list, length) == 0) {
            return 1;
        }
        list += length + (list[length] == ':');
    }
    return 0;
}

/* Whether the path is that of an output file. */
static int is_output(const char *path)
{
    const char *list = getenv(VARIABLE);
    char whole[PATH_MAX];
    char here[PATH_MAX];

    if (list == NULL || path == NULL) {
        return 0;
    }
    if (path[0] == '/') {
        return is_listed(path, list);
    }
    if (getcwd(here, sizeof here) == NULL ||
        (size_t)snprintf(whole, sizeof whole, "%s/%s", here, path) >= sizeof whole) {
        return 0;
    }
    return is_listed(whole, list);
}

static int open_file(int directory, const char *path, int flags, mode_t mode)
{
    const int errno_before = errno;

    if ((flags & O_ACCMODE) != O_RDONLY && (flags & O_CREAT) != 0 && is_output(path)) {
        flags = (flags & ~O_TRUNC) | O_APPEND;
    }
    errno = errno_before;
    return (int)syscall(SYS_openat, directory, path, flags, mode);
}

static mode_t mode_of(int flags, va_list arguments)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name)                                      \
    EXPORTED int name(const char *path, int flags, ...) \
    {                                                   \
        va_list arguments;                              \
        mode_t mode;                                    \
                                                        \
        va_start(arguments, flags);                     \
        mode = mode_of(flags, arguments);               \
        va_end(arguments);                              \
        return open_file(AT_FDCWD, path, flags, mode);  \
    }

#define CREAT(name)                                                           \
    EXPORTED int name(const char *path, mode_t mode)                          \
    {                                                                         \
        return open_file(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode); \
    }

#define FOPEN(name)                                                               \
    EXPORTED FILE *name(const char *path, const char *mode)                       \
    {                                                                             \
        FILE *(*next)(const char *, const char *);                                \
        char appends[16];                                                         \
                                                                                  \
        *(void **)&next = dlsym(RTLD_NEXT, #name);                                \
        if (mode[0] == 'w' && strlen(mode) < sizeof appends && is_output(path)) { \
            strcpy(appends, mode);                                                \
            appends[0] = 'a';                                                     \
            mode = appends;                                                       \
        }                                                                         \
        return next(path, mode);                                                  \
    }

OPEN(open)
OPEN(open64)
CREAT(creat)
CREAT(creat64)
FOPEN(fopen)
FOPEN(fopen64)
