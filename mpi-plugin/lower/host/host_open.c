/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_open.c - the lower half's calls that make descriptors.
 *
 * Each call makes the descriptor and has it adopted (host_descriptors.h) before
 * other code can see it. A call that may block waits before the change.
 *
 * Context of the exported functions: normal (lower half).
 */
#include "config.h"

#include "lower/host/change.h"
#include "lower/host/export.h"
#include "lower/host/host_descriptors.h"
#include "lower/host/host_files.h"
#include "sys/syscall.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Adopts a new descriptor, or returns an error, and ends the change. */
static int finish(long fd, int inherit, const uint64_t *mask)
{
    long result = ckpt_host_adopt(fd, inherit);

    ckpt_change_end(mask);
    return (int)ckpt_libc_result(result);
}

/* Files. */

static int open_file(int directory, const char *path, int flags, mode_t mode)
{
    uint64_t mask;

    ckpt_change_begin(&mask);
    return finish(ckpt_host_file_open(directory, path, flags, mode),
                  (flags & O_CLOEXEC) == 0, &mask);
}

static int has_mode(int flags)
{
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

CKPT_EXPORT int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list arguments;

    if (has_mode(flags)) {
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    return open_file(AT_FDCWD, path, flags, mode);
}

CKPT_EXPORT int openat(int directory, const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list arguments;

    if (has_mode(flags)) {
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    return open_file(directory, path, flags, mode);
}

_Static_assert(sizeof(off_t) == 8, "open64 and its like need no flag of their own");

CKPT_EXPORT int open64(const char *path, int flags, ...)
    __attribute__((alias("open")));
CKPT_EXPORT int openat64(int directory, const char *path, int flags, ...)
    __attribute__((alias("openat")));

CKPT_EXPORT int creat(const char *path, mode_t mode)
{
    return open_file(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

CKPT_EXPORT int creat64(const char *path, mode_t mode)
    __attribute__((alias("creat")));

/* The names of open() with two arguments in fortified programs. */
CKPT_EXPORT int __open_2(const char *path, int flags)
{
    return open_file(AT_FDCWD, path, flags, 0);
}

CKPT_EXPORT int __openat_2(int directory, const char *path, int flags)
{
    return open_file(directory, path, flags, 0);
}

CKPT_EXPORT int __open64_2(const char *path, int flags)
    __attribute__((alias("__open_2")));
CKPT_EXPORT int __openat64_2(int directory, const char *path, int flags)
    __attribute__((alias("__openat_2")));

CKPT_EXPORT DIR *opendir(const char *path)
{
    int fd = open_file(AT_FDCWD, path,
                       O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC, 0);
    DIR *directory;

    if (fd < 0) {
        return NULL;
    }
    directory = fdopendir(fd);
    if (directory == NULL) {
        close(fd);
    }
    return directory;
}

CKPT_EXPORT int closedir(DIR *directory)
{
    int (*next)(DIR *) = CKPT_NEXT(closedir);
    uint64_t mask;
    int result;

    ckpt_change_begin(&mask);
    ckpt_host_disown(dirfd(directory));
    result = next(directory);
    ckpt_change_end(&mask);
    return result;
}

/* Returns the open() flags of an fopen() mode; -1 if the mode is invalid. */
static int flags_of(const char *mode)
{
    int plus = strchr(mode, '+') != NULL;
    int flags;

    switch (mode[0]) {
    case 'r':
        flags = plus ? O_RDWR : O_RDONLY;
        break;
    case 'w':
        flags = (plus ? O_RDWR : O_WRONLY) | O_CREAT | O_TRUNC;
        break;
    case 'a':
        flags = (plus ? O_RDWR : O_WRONLY) | O_CREAT | O_APPEND;
        break;
    default:
        return -1;
    }
    if (strchr(mode, 'x') != NULL) {
        flags |= O_EXCL;
    }
    return strchr(mode, 'e') != NULL ? flags | O_CLOEXEC : flags;
}

CKPT_EXPORT FILE *fopen(const char *path, const char *mode)
{
    int flags = flags_of(mode);
    FILE *file;
    int fd;

    if (flags == -1) {
        errno = EINVAL;
        return NULL;
    }
    fd = open_file(AT_FDCWD, path, flags, 0666);
    if (fd < 0) {
        return NULL;
    }
    file = fdopen(fd, mode);
    if (file == NULL) {
        close(fd);
    }
    return file;
}

CKPT_EXPORT FILE *fopen64(const char *path, const char *mode)
    __attribute__((alias("fopen")));

CKPT_EXPORT int fclose(FILE *file)
{
    int (*next)(FILE *) = CKPT_NEXT(fclose);
    uint64_t mask;
    int result;

    fflush(file); /* may wait, which the change below must not */
    ckpt_change_begin(&mask);
    ckpt_host_disown(fileno(file));
    result = next(file);
    ckpt_change_end(&mask);
    return result;
}

CKPT_EXPORT int mkostemps(char *name, int suffix_length, int flags)
{
    int (*next)(char *, int, int) = CKPT_NEXT(mkostemps);
    uint64_t mask;
    int fd;

    ckpt_change_begin(&mask);
    fd = next(name, suffix_length, flags);
    return finish(fd < 0 ? -errno : fd, (flags & O_CLOEXEC) == 0, &mask);
}

CKPT_EXPORT int mkostemp(char *name, int flags)
{
    return mkostemps(name, 0, flags);
}

CKPT_EXPORT int mkstemp(char *name)
{
    return mkostemps(name, 0, 0);
}

CKPT_EXPORT int mkstemp64(char *name) __attribute__((alias("mkstemp")));
CKPT_EXPORT int mkostemp64(char *name, int flags)
    __attribute__((alias("mkostemp")));

CKPT_EXPORT int shm_open(const char *name, int flags, mode_t mode)
{
    char path[sizeof("/dev/shm/") + NAME_MAX];
    uint64_t mask;

    name += strspn(name, "/");
    if (*name == '\0' || strchr(name, '/') != NULL || strlen(name) > NAME_MAX) {
        errno = EINVAL;
        return -1;
    }
    snprintf(path, sizeof(path), "/dev/shm/%s", name);
    ckpt_change_begin(&mask);
    return finish(ckpt_host_file_open(AT_FDCWD, path, flags | O_NOFOLLOW | O_CLOEXEC, mode), 0,
                  &mask);
}

CKPT_EXPORT int memfd_create(const char *name, unsigned flags)
{
    uint64_t mask;

    ckpt_change_begin(&mask);
    return finish(ckpt_sys_memfd_create(name, flags),
                  (flags & MFD_CLOEXEC) == 0, &mask);
}

/* Sockets. */

CKPT_EXPORT int socket(int domain, int type, int protocol)
{
    uint64_t mask;

    ckpt_change_begin(&mask);
    return finish(ckpt_syscall3(SYS_socket, domain, type, protocol),
                  (type & SOCK_CLOEXEC) == 0, &mask);
}

CKPT_EXPORT int socketpair(int domain, int type, int protocol, int ends[2])
{
    int inherit = (type & SOCK_CLOEXEC) == 0;
    uint64_t mask;
    int made[2];
    long result;

    ckpt_change_begin(&mask);
    result = ckpt_syscall4(SYS_socketpair, domain, type, protocol, (long)made);
    if (result == 0) {
        ends[0] = (int)ckpt_host_adopt(made[0], inherit);
        ends[1] = (int)ckpt_host_adopt(made[1], inherit);
    }
    ckpt_change_end(&mask);
    return (int)ckpt_libc_result(result);
}

/* Waits, on a blocking socket, as the following call would. */
static void wait_readable(int fd)
{
    struct pollfd file = {.fd = fd, .events = POLLIN};
    long flags = ckpt_sys_fcntl(fd, F_GETFL, 0);

    if (flags >= 0 && (flags & O_NONBLOCK) == 0) {
        ckpt_sys_poll(&file, 1, -1);
    }
}

CKPT_EXPORT int accept4(int fd, struct sockaddr *address, socklen_t *size,
                        int flags)
{
    uint64_t mask;

    wait_readable(fd);
    ckpt_change_begin(&mask);
    return finish(
        ckpt_syscall4(SYS_accept4, fd, (long)address, (long)size, flags),
        (flags & SOCK_CLOEXEC) == 0, &mask);
}

CKPT_EXPORT int accept(int fd, struct sockaddr *address, socklen_t *size)
{
    return accept4(fd, address, size, 0);
}

/* Adopts the descriptors in a received message. */
static void adopt_message(struct msghdr *message, int inherit)
{
    struct cmsghdr *part;
    int *fds;
    size_t count;

    for (part = CMSG_FIRSTHDR(message); part != NULL;
         part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        fds = (int *)CMSG_DATA(part);
        count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            fds[i] = (int)ckpt_host_adopt(fds[i], inherit);
        }
    }
}

CKPT_EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    uint64_t mask;
    long result;

    if (message->msg_control == NULL || message->msg_controllen == 0) {
        return ckpt_libc_result(ckpt_sys_recvmsg(fd, message, flags));
    }
    if ((flags & MSG_DONTWAIT) == 0) {
        wait_readable(fd);
    }
    ckpt_change_begin(&mask);
    result = ckpt_sys_recvmsg(fd, message, flags);
    if (result >= 0) {
        adopt_message(message, (flags & MSG_CMSG_CLOEXEC) == 0);
    }
    ckpt_change_end(&mask);
    return ckpt_libc_result(result);
}

/* Event sources. */

CKPT_EXPORT int epoll_create1(int flags)
{
    uint64_t mask;

    ckpt_change_begin(&mask);
    return finish(ckpt_syscall3(SYS_epoll_create1, flags, 0, 0),
                  (flags & EPOLL_CLOEXEC) == 0, &mask);
}

CKPT_EXPORT int epoll_create(int size)
{
    if (size <= 0) {
        errno = EINVAL;
        return -1;
    }
    return epoll_create1(0);
}

CKPT_EXPORT int eventfd(unsigned value, int flags)
{
    uint64_t mask;

    ckpt_change_begin(&mask);
    return finish(ckpt_sys_eventfd2(value, flags), (flags & EFD_CLOEXEC) == 0,
                  &mask);
}

CKPT_EXPORT int timerfd_create(int clock, int flags)
{
    uint64_t mask;

    ckpt_change_begin(&mask);
    return finish(ckpt_syscall3(SYS_timerfd_create, clock, flags, 0),
                  (flags & TFD_CLOEXEC) == 0, &mask);
}

CKPT_EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
    uint64_t mask;
    long result;

    ckpt_change_begin(&mask);
    result = ckpt_syscall4(SYS_signalfd4, fd, (long)set, sizeof(uint64_t),
                           flags);
    if (fd != -1) {
        ckpt_change_end(&mask);
        return (int)ckpt_libc_result(result);
    }
    return finish(result, (flags & SFD_CLOEXEC) == 0, &mask);
}

CKPT_EXPORT int inotify_init1(int flags)
{
    uint64_t mask;

    ckpt_change_begin(&mask);
    return finish(ckpt_syscall3(SYS_inotify_init1, flags, 0, 0),
                  (flags & IN_CLOEXEC) == 0, &mask);
}

CKPT_EXPORT int inotify_init(void)
{
    return inotify_init1(0);
}
