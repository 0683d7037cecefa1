/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * input_start.c - starts the relay of a standard input (ckpt/input.h).
 */
#include "files/input.h"

#include "base/text.h"
#include "ckpt/input.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_FREE 16 /* above the descriptor numbers of the relay */
#define REPORT     6  /* in the relay, until execve() */
_Static_assert(REPORT > CKPT_RELAY_PAGE && FIRST_FREE > REPORT, "the numbers are apart");

/* Maximum bytes that the relay reads ahead of the program. Input that the launcher cannot
 * repeat must be in the image, so the relay reads as far ahead of it as possible. */
#define LIMIT      ((uint64_t)64 << 20)
#define LIMIT_KEPT ((uint64_t)4 << 20)

/* The descriptors of a relay, numbered as in the caller. */
struct parts {
    int source;
    int sink;
    int page;
    int report; /* pipe for the relay's process id, then -errno if execve() fails */
};

/* Hydra's proxy ends the job when no process reads the input that it forwards. */
static int is_hydra(void)
{
    return getenv("HYDI_CONTROL_FD") != NULL;
}

static int write_all(int fd, const void *bytes, size_t size, off_t at)
{
    size_t done = 0;

    while (done < size) {
        ssize_t result = pwrite(fd, (const char *)bytes + done, size - done,
                                at + (off_t)done);

        if (result < 0 && errno != EINTR) {
            return -errno;
        }
        done += result > 0 ? (size_t)result : 0;
    }
    return 0;
}

/* Makes the memory file with the relay's initial state. Returns a descriptor or -errno. */
static int make_page(const struct ckpt_input_start *start, int sink)
{
    struct ckpt_relay_page page = {
        .magic = CKPT_RELAY_MAGIC,
        .ended = start->source < 0,
        .taken = start->position + start->size,
        .given = start->position,
        .skip = start->skip,
        .limit = is_hydra()       ? UINT64_MAX
                 : start->is_kept ? LIMIT_KEPT
                                  : LIMIT,
        .kept = start->is_kept != 0,
    };
    struct stat status;
    int fd = memfd_create(CKPT_RELAY_PROGRAM, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int error;

    if (fd < 0) {
        return -errno;
    }
    error = fstat(sink, &status) != 0 ? -errno : 0;
    page.inode = status.st_ino;
    if (error == 0 && (ftruncate(fd, CKPT_RELAY_DATA) != 0 ||
                       fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0)) {
        error = -errno; /* sealed: otherwise a program could crash its relay by truncating the
                           file */
    }
    if (error == 0) {
        error = write_all(fd, &page, sizeof page, 0);
    }
    if (error == 0) {
        error = write_all(fd, start->bytes, start->size,
                          CKPT_RELAY_DATA + (off_t)start->position);
    }
    if (error != 0) {
        close(fd);
        return error;
    }
    return fd;
}

/* Moves a descriptor above the numbers that the relay's descriptors get. */
static int lift(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE);
}

/* Runs in the process that becomes the relay. */
__attribute__((noreturn)) static void become_relay(const char *program,
                                                   const struct parts *parts)
{
    char *const arguments[] = {CKPT_RELAY_PROGRAM, NULL};
    char *const environment[] = {NULL};
    const int nothing = lift(open("/dev/null", O_RDWR));
    const int from[] = {nothing, nothing, nothing,
                        parts->source < 0 ? nothing : lift(parts->source),
                        lift(parts->sink), lift(parts->page)};
    const int report = lift(parts->report);
    const int own = getpid();
    int result = 0;

    for (int i = 0; i < (int)(sizeof from / sizeof from[0]); i++) {
        result = result < 0 ? result : dup2(from[i], i);
    }
    result = result < 0 ? result : dup3(report, REPORT, O_CLOEXEC);
    if (result >= 0) {
        closefrom(REPORT + 1);
        (void)!write(REPORT, &own, sizeof own);
        execve(program, arguments, environment);
    }
    result = -errno;
    (void)!write(result == -EBADF ? parts->report : REPORT, &result,
                 sizeof result);
    _exit(127);
}

/* Returns the relay's process id, or -errno. */
static int read_report(int fd)
{
    int values[2];
    size_t done = 0;
    ssize_t result = 1;

    while (done < sizeof values && result != 0) {
        result = read(fd, (char *)values + done, sizeof values - done);
        if (result < 0 && errno != EINTR) {
            return -errno;
        }
        done += result > 0 ? (size_t)result : 0;
    }
    if (done < sizeof values[0]) {
        return -ECHILD;
    }
    return values[done / sizeof values[0] - 1];
}

/* Forks the relay as the child of a process that exits at once. Returns the relay's id or
 * -errno. */
static int fork_relay(const char *program, struct parts *parts)
{
    int ends[2];
    int result, child;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -errno;
    }
    parts->report = ends[1];
    child = fork();
    if (child == 0) {
        child = fork();
        if (child == 0) {
            become_relay(program, parts);
        }
        _exit(0);
    }
    result = child < 0 ? -errno : 0;
    close(ends[1]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    if (child > 0) {
        result = read_report(ends[0]);
    }
    close(ends[0]);
    return result;
}

int ckpt_input_start(const struct ckpt_input_start *start,
                     struct ckpt_failure *failure)
{
    struct parts parts = {.source = start->source};
    int ends[2];
    int relay;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return ckpt_fail(failure, -errno, "no pipe for the standard input: %s",
                         strerror(errno));
    }
    parts.sink = ends[1];
    parts.page = make_page(start, ends[1]);
    relay = parts.page < 0 ? parts.page : fork_relay(start->program, &parts);
    if (parts.page >= 0) {
        close(parts.page);
    }
    close(ends[1]);
    if (relay > 0 && fcntl(ends[0], F_SETOWN, relay) != 0) {
        relay = -errno;
    }
    if (relay < 0) {
        close(ends[0]); /* lets a started relay end */
        return ckpt_fail(failure, relay, "%s cannot be started: %s",
                         start->program, strerror(-relay));
    }
    return ends[0];
}

/* ---- At the start of a program -------------------------------------------------- */

/* Returns 1 if the launcher forwards its input to this process. */
static int is_forwarded(void)
{
    struct stat status;

    return fstat(0, &status) == 0 &&
           (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

/* Returns 1 if the parent process is mpirun itself, not its daemon, and its input is /dev/null.
 * Open MPI 5.0 does not forward the end of such an input. */
static int is_launcher_without_input(void)
{
    static const char *const launchers[] = {"mpirun", "orterun", "prterun"};
    char path[64], text[32] = "";
    ssize_t size;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/comm", (int)getppid());
    file = fopen(path, "re");
    if (file != NULL) {
        (void)!fgets(text, sizeof text, file);
        fclose(file);
    }
    text[strcspn(text, "\n")] = '\0';
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
        if (strcmp(text, launchers[i]) == 0) {
            snprintf(path, sizeof path, "/proc/%d/fd/0", (int)getppid());
            size = readlink(path, text, sizeof text - 1);
            text[size > 0 ? size : 0] = '\0';
            return strcmp(text, "/dev/null") == 0;
        }
    }
    return 0;
}

/* Hydra gives every rank a pipe, but forwards its input only to rank 0. */
static int is_beside_input(void)
{
    const char *rank = getenv("PMI_RANK");

    return is_hydra() && rank != NULL && strcmp(rank, "0") != 0;
}

/* Makes the standard input a pipe that is at its end. */
static void begin_empty(void)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) == 0) {
        (void)dup2(ends[0], 0);
        close(ends[0]);
        close(ends[1]);
    }
}

static void begin_relay(int is_kept)
{
    const char *libraries = getenv("CKPT_LIBDIR");
    struct ckpt_input_start start = {.source = 0, .is_kept = is_kept};
    struct ckpt_failure failure = {0};
    char program[4096];
    int fd;

    if (libraries == NULL ||
        (size_t)snprintf(program, sizeof program, "%s/%s", libraries,
                         CKPT_RELAY_PROGRAM) >= sizeof program) {
        return;
    }
    start.program = program;
    fd = ckpt_input_start(&start, &failure);
    if (fd < 0) {
        fprintf(stderr,
                "ckpt: standard input will not be complete after a restart: %s\n",
                failure.text);
        return;
    }
    (void)dup2(fd, 0);
    close(fd);
}

static char *write_digits(char *to, uint64_t value)
{
    for (int shift = 60; shift >= 0; shift -= 4) {
        *to++ = "0123456789abcdef"[(value >> shift) & 15];
    }
    return to;
}

void ckpt_output_text(char text[CKPT_OUTPUT_SIZE])
{
    for (int fd = 1; fd <= 2; fd++) {
        struct stat status;

        if (ckpt_sys_fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
            status = (struct stat){0};
        }
        text = write_digits(text, status.st_dev);
        *text++ = ':';
        text = write_digits(text, status.st_ino);
        *text++ = fd == 1 ? ',' : '\0';
    }
}

void ckpt_input_open(void)
{
    const char *input = getenv(CKPT_INPUT_VARIABLE);
    char output[CKPT_OUTPUT_SIZE];

    if (input == NULL) {
        return;
    }
    if (is_forwarded()) {
        if (strcmp(input, CKPT_INPUT_NONE) == 0 || is_launcher_without_input() ||
            is_beside_input()) {
            begin_empty();
        } else {
            begin_relay(strcmp(input, CKPT_INPUT_AGAIN) == 0);
        }
    }
    unsetenv(CKPT_INPUT_VARIABLE);
    if (getenv("CKPT_NON_MPI") == NULL) { /* otherwise `ckpt run` has set it */
        ckpt_output_text(output);
        setenv(CKPT_OUTPUT_VARIABLE, output, 1);
    }
}
