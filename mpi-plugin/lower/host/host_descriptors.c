/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_descriptors.c - record which file descriptors belong to the lower half.
 *
 * Each descriptor that the lower half makes is moved to a high number. So the
 * application gets the same low numbers as without ckpt, and a restart finds
 * the application's numbers free. The descriptor is close-on-exec, so programs
 * that the application starts do not see it. fork() clears that flag for
 * programs of the lower half, on the descriptors that they should inherit.
 */
#include "config.h"
#include "lower/host/host_descriptors.h"

#include "base/invariant.h"
#include "lower/host/change.h"
#include "lower/host/export.h"
#include "sys/syscall.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <unistd.h>

#define DESCRIPTORS_MAX 65536
#define SELECT_MAX      1024 /* limit of select() */
#define WORD_BITS       64

/* One bit per descriptor number. */
static uint64_t owned[DESCRIPTORS_MAX / WORD_BITS];
static uint64_t inherited[DESCRIPTORS_MAX / WORD_BITS];
_Static_assert(DESCRIPTORS_MAX % WORD_BITS == 0 && SELECT_MAX <= DESCRIPTORS_MAX,
               "each number of our range has a bit");

static uint64_t bit_of(int fd)
{
    return UINT64_C(1) << (fd % WORD_BITS);
}

static int is_set(const uint64_t *set, int fd)
{
    return fd >= 0 && fd < DESCRIPTORS_MAX &&
           (__atomic_load_n(&set[fd / WORD_BITS], __ATOMIC_SEQ_CST) &
            bit_of(fd)) != 0;
}

static void change(uint64_t *set, int fd, int value)
{
    if (fd < 0 || fd >= DESCRIPTORS_MAX) {
        return;
    }
    if (value) {
        __atomic_or_fetch(&set[fd / WORD_BITS], bit_of(fd), __ATOMIC_SEQ_CST);
    } else {
        __atomic_and_fetch(&set[fd / WORD_BITS], ~bit_of(fd),
                           __ATOMIC_SEQ_CST);
    }
}

int ckpt_host_owns_descriptor(int fd)
{
    if (is_set(owned, fd)) {
        return 1;
    }
    /* It may be a descriptor that is moving: its old number is not open
     * afterwards. */
    return ckpt_change_wait() &&
           (is_set(owned, fd) || ckpt_sys_fcntl(fd, F_GETFD, 0) == -EBADF);
}

/* Returns the start of our range: three quarters of the numbers that select()
 * and the process's limit allow. It is chosen once, because the limit may
 * change later. */
static int lowest(void)
{
    static int chosen;
    struct rlimit limit;
    int most = SELECT_MAX;

    if (chosen == 0) {
        if (ckpt_syscall3(SYS_getrlimit, RLIMIT_NOFILE, (long)&limit, 0) == 0 &&
            limit.rlim_cur < SELECT_MAX) {
            most = (int)limit.rlim_cur;
        }
        chosen = most / 4 * 3;
        CKPT_INVARIANT(chosen >= 0 && chosen < DESCRIPTORS_MAX);
    }
    return chosen;
}

long ckpt_host_adopt(long fd, int inherit)
{
    long moved;

    if (fd < 0) {
        return fd;
    }
    CKPT_INVARIANT(ckpt_change_is_under_way()); /* the old number is not listed meanwhile */
    moved = ckpt_sys_fcntl((int)fd, F_DUPFD_CLOEXEC, lowest());
    if (moved >= 0) {
        ckpt_sys_close((int)fd);
    } else {
        /* No high number is free: keep the present one. */
        moved = fd;
        ckpt_sys_fcntl((int)fd, F_SETFD, FD_CLOEXEC);
    }
    change(inherited, (int)moved, inherit);
    change(owned, (int)moved, 1);
    return moved;
}

void ckpt_host_disown(int fd)
{
    CKPT_INVARIANT(ckpt_change_is_under_way());
    change(owned, fd, 0);
    change(inherited, fd, 0);
}

/* Adopts two new descriptors and stores them in `to`, unless `result` is an
 * error. */
static long adopt_pair(long result, const int made[2], int to[2], int inherit)
{
    if (result >= 0) {
        to[0] = (int)ckpt_host_adopt(made[0], inherit);
        to[1] = (int)ckpt_host_adopt(made[1], inherit);
    }
    return result;
}

CKPT_EXPORT int close(int fd)
{
    uint64_t mask;
    long result;

    ckpt_change_begin(&mask);
    ckpt_host_disown(fd);
    result = ckpt_sys_close(fd);
    ckpt_change_end(&mask);
    return (int)ckpt_libc_result(result);
}

/* Closes only the lower half's own descriptors. */
CKPT_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
    if (flags != 0 || first > last) {
        errno = EINVAL;
        return -1;
    }
    for (unsigned fd = first; fd <= last && fd < DESCRIPTORS_MAX; fd++) {
        if (is_set(owned, (int)fd)) {
            close((int)fd);
        }
    }
    return 0;
}

static long duplicate(int fd, int least, int inherit)
{
    uint64_t mask;
    long result;

    ckpt_change_begin(&mask);
    result = ckpt_sys_fcntl(fd, F_DUPFD_CLOEXEC,
                            least > lowest() ? least : lowest());
    if (result == -EMFILE || result == -EINVAL) {
        result = ckpt_sys_fcntl(fd, F_DUPFD_CLOEXEC, least);
    }
    if (result >= 0) {
        change(inherited, (int)result, inherit);
        change(owned, (int)result, 1);
    }
    ckpt_change_end(&mask);
    return result;
}

CKPT_EXPORT int dup(int fd)
{
    return (int)ckpt_libc_result(duplicate(fd, 0, 1));
}

/* The caller chooses the number. A standard stream stays the application's. */
static long duplicate_to(int from, int to, int flags)
{
    uint64_t mask;
    long result;

    ckpt_change_begin(&mask);
    result = ckpt_sys_dup3(from, to, flags);
    if (result > STDERR_FILENO) {
        change(inherited, to, (flags & O_CLOEXEC) == 0);
        change(owned, to, 1);
    }
    ckpt_change_end(&mask);
    return result;
}

CKPT_EXPORT int dup2(int from, int to)
{
    if (from == to) {
        return ckpt_libc_result(ckpt_sys_fcntl(from, F_GETFD, 0)) < 0 ? -1 : to;
    }
    return (int)ckpt_libc_result(duplicate_to(from, to, 0));
}

CKPT_EXPORT int dup3(int from, int to, int flags)
{
    return (int)ckpt_libc_result(duplicate_to(from, to, flags));
}

/* Returns the descriptor flags that the lower half set. */
static long get_flags(int fd)
{
    long flags = ckpt_sys_fcntl(fd, F_GETFD, 0);

    if (flags > 0 && is_set(inherited, fd)) {
        flags &= ~FD_CLOEXEC;
    }
    return flags;
}

static long set_flags(int fd, int flags)
{
    if (!is_set(owned, fd)) {
        return ckpt_sys_fcntl(fd, F_SETFD, flags);
    }
    change(inherited, fd, (flags & FD_CLOEXEC) == 0);
    return 0;
}

CKPT_EXPORT int fcntl(int fd, int command, ...)
{
    va_list arguments;
    long argument, result;

    va_start(arguments, command);
    argument = va_arg(arguments, long);
    va_end(arguments);

    switch (command) {
    case F_DUPFD:
        result = duplicate(fd, (int)argument, 1);
        break;
    case F_DUPFD_CLOEXEC:
        result = duplicate(fd, (int)argument, 0);
        break;
    case F_GETFD:
        result = get_flags(fd);
        break;
    case F_SETFD:
        result = set_flags(fd, (int)argument);
        break;
    default:
        result = ckpt_sys_fcntl(fd, command, argument);
        break;
    }
    return (int)ckpt_libc_result(result);
}

CKPT_EXPORT int fcntl64(int fd, int command, ...)
    __attribute__((alias("fcntl")));

CKPT_EXPORT int pipe2(int ends[2], int flags)
{
    uint64_t mask;
    int made[2];
    long result;

    ckpt_change_begin(&mask);
    result = adopt_pair(ckpt_sys_pipe2(made, flags), made, ends,
                        (flags & O_CLOEXEC) == 0);
    ckpt_change_end(&mask);
    return (int)ckpt_libc_result(result);
}

CKPT_EXPORT int pipe(int ends[2])
{
    return pipe2(ends, 0);
}

void ckpt_host_descriptors_inherit(void)
{
    for (int fd = 0; fd < DESCRIPTORS_MAX; fd++) {
        if (is_set(inherited, fd)) {
            ckpt_sys_fcntl(fd, F_SETFD, 0);
        }
    }
}
