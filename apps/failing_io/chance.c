/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chance.c - decides whether a call fails, and how.
 */
#include "failing_io/failing_io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    RATES = 10000,
    MOST_ERRORS = 4,
    SLOW_MOMENTS = 100
};

static const char *const programs[] = {"ckpt", "ckptd", "ckpt-gather", "ckpt-restart",
                                       "ckpt-stdin"};

static const struct {
    int count;
    int errors[MOST_ERRORS];
} errors_of[] = {
    [OPENS] = {3, {EIO, ESTALE, EINTR}},
    [MAKES_FILE] = {4, {EIO, ENOSPC, ESTALE, EINTR}},
    [CHANGES_NAME] = {3, {EIO, ENOSPC, ESTALE}},
    [LOOKS] = {2, {EIO, ESTALE}},
    [READS] = {3, {EIO, ESTALE, EINTR}},
    [WRITES] = {4, {EIO, ENOSPC, ESTALE, EINTR}},
    [SYNCS] = {4, {EIO, ENOSPC, ESTALE, EINTR}},
    [LOCKS] = {3, {EIO, ESTALE, EINTR}},
};

/* All zero in a program in which no call fails. */
static unsigned long rate;
static uint64_t seed;
static const char *directories, *log_path, *slow_path;

static int is_ours(void)
{
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        if (strcmp(program_invocation_short_name, programs[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

__attribute__((constructor)) static void read_settings(void)
{
    const char *rate_text = getenv("FAILING_IO_RATE");
    const char *seed_text = getenv("FAILING_IO_SEED");

    directories = getenv("FAILING_IO_DIRS");
    log_path = getenv("FAILING_IO_LOG");
    if (!is_ours() || directories == NULL) {
        return;
    }
    slow_path = getenv("FAILING_IO_SLOW");
    if (rate_text != NULL && seed_text != NULL) {
        seed = strtoull(seed_text, NULL, 10) ^ ((uint64_t)getpid() << 32);
        rate = strtoul(rate_text, NULL, 10);
    }
}

/* Returns the next number of the sequence (splitmix64). */
static uint64_t draw(void)
{
    static _Atomic uint64_t drawn;
    uint64_t number = seed + atomic_fetch_add(&drawn, 1) * UINT64_C(0x9e3779b97f4a7c15);

    number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
    return number ^ (number >> 31);
}

static int strikes(void)
{
    return rate != 0 && draw() % RATES < rate;
}

static int is_below(const char *path)
{
    for (const char *list = directories; *list != '\0';) {
        const size_t length = strcspn(list, ":");
        if (length != 0 && strncmp(path, list, length) == 0 &&
            (path[length] == '/' || path[length] == '\0')) {
            return 1;
        }
        list += length + (list[length] == ':');
    }
    return 0;
}

/* Finds the path of an open file, or of the working directory; empty if there is none. */
static void path_of(int fd, char path[PATH_MAX])
{
    char link[64] = "/proc/self/cwd";

    if (fd != AT_FDCWD) {
        (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    }
    const long length = syscall(SYS_readlink, link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = '\0';
}

static void log_failure(const char *what, const char *path, const char *how)
{
    char line[PATH_MAX + 200];

    if (log_path == NULL) {
        return;
    }
    const int length = snprintf(line, sizeof line, "%d %s: %s %s: %s\n", (int)getpid(),
                                program_invocation_short_name, what, path, how);
    const long fd = syscall(SYS_openat, AT_FDCWD, log_path,
                            O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd >= 0) {
        (void)syscall(SYS_write, fd, line, length);
        (void)syscall(SYS_close, fd);
    }
}

static int fail(enum kind kind, const char *what, const char *path)
{
    const int error = errors_of[kind].errors[draw() % (unsigned)errors_of[kind].count];

    log_failure(what, path, strerrorname_np(error));
    errno = error;
    return 1;
}

int failing_name(enum kind kind, const char *what, int directory, const char *path)
{
    const int error_before = errno;
    char whole[2 * PATH_MAX];

    if (!strikes() || path == NULL) {
        return 0;
    }
    if (path[0] != '/') {
        path_of(directory, whole);
        const size_t length = strlen(whole);
        (void)snprintf(whole + length, sizeof whole - length, "/%s", path);
        path = whole;
    }
    if (is_below(path)) {
        return fail(kind, what, path);
    }
    errno = error_before;
    return 0;
}

/* Whether a call on this file fails; if so, sets `path`. Preserves errno. */
static int strikes_file(int fd, char path[PATH_MAX])
{
    const int error_before = errno;

    if (!strikes()) {
        return 0;
    }
    path_of(fd, path);
    errno = error_before;
    return is_below(path);
}

int failing_file(enum kind kind, const char *what, int fd)
{
    char path[PATH_MAX];

    return strikes_file(fd, path) && fail(kind, what, path);
}

/* Direct I/O transfers whole blocks. */
static size_t shorter(int fd, size_t size)
{
    const size_t block = (syscall(SYS_fcntl, fd, F_GETFL) & O_DIRECT) != 0 ? 4096 : 1;

    return size > block ? (1 + draw() % (size / block - (size % block == 0))) * block : size;
}

int failing_transfer(enum kind kind, const char *what, int fd, size_t *size)
{
    const int error_before = errno;
    char path[PATH_MAX];

    if (!strikes_file(fd, path)) {
        return 0;
    }
    if (failing_by_half()) {
        return fail(kind, what, path);
    }
    *size = shorter(fd, *size);
    log_failure(what, path, "short");
    errno = error_before;
    return 0;
}

void wait_if_slow(int fd)
{
    const struct timespec moment = {0, 20 * 1000 * 1000};
    const int error_before = errno;
    char path[PATH_MAX];

    if (slow_path == NULL) {
        return;
    }
    path_of(fd, path);
    for (int i = 0; is_below(path) && i < SLOW_MOMENTS; i++) {
        if (syscall(SYS_access, slow_path, F_OK) < 0) {
            break; /* no longer */
        }
        (void)syscall(SYS_nanosleep, &moment, NULL);
    }
    errno = error_before;
}

int failing_by_half(void)
{
    return (int)(draw() % 2);
}
