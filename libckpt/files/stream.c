/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream.c - the launcher's standard streams, and their duplicates: after a restart they are
 * the new launcher's.
 *
 * A descriptor is a stream if it leads to the same pipe, socket or terminal as descriptor 0, 1
 * or 2 did at program start. An output file is a stream if the launcher gave it (CKPT_OUTPUT).
 * If the program or a shell has redirected the output, the file is an ordinary file. An input
 * file is an ordinary file as well, since its position tells how far it has been read. Input
 * that a launcher forwards comes through a relay (ckpt/input.h); its unread bytes are saved.
 */
#include "files/file_kind.h"

#include "base/text.h"
#include "ckpt/input.h"
#include "files/input.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define FIRST_UNIX98_PTY_MAJOR 136u
#define LAST_UNIX98_PTY_MAJOR  143u
#define TTY_MAJOR              4u
/* pipe(7): default capacity, unless a process has reduced it */
#define PIPE_SIZE 65536u

/* The launcher's streams. type 0: not open, or not a stream as defined above. */
static struct {
    dev_t device;
    ino_t inode;
    mode_t type;
    int flags; /* status flags of its open file, if it is a regular file */
} streams[3];

static int is_terminal(const struct stat *status)
{
    unsigned number = major(status->st_rdev);

    return S_ISCHR(status->st_mode) &&
           (number == TTY_MAJOR || (number >= FIRST_UNIX98_PTY_MAJOR &&
                                    number <= LAST_UNIX98_PTY_MAJOR));
}

static int is_file_of_launcher(int stream, const struct stat *status)
{
    const char *text = getenv(CKPT_OUTPUT_VARIABLE);
    char own[CKPT_OUTPUT_SIZE / 2]; /* of one stream, with what follows it */

    if (stream == 0 || text == NULL || strlen(text) + 1 != CKPT_OUTPUT_SIZE) {
        return 0;
    }
    snprintf(own, sizeof own, "%016lx:%016lx", (unsigned long)status->st_dev,
             (unsigned long)status->st_ino);
    return strncmp(text + (stream - 1) * (int)sizeof own, own, strlen(own)) == 0;
}

static void learn(int stream, int fd, int may_be_file)
{
    struct stat status;

    streams[stream].type = 0;
    if (ckpt_sys_fstat(fd, &status) == 0 &&
        (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) ||
         S_ISCHR(status.st_mode) ||
         (S_ISREG(status.st_mode) && may_be_file))) {
        streams[stream].device = status.st_dev;
        streams[stream].inode = status.st_ino;
        streams[stream].type = status.st_mode & S_IFMT;
        streams[stream].flags = (int)ckpt_sys_fcntl(fd, F_GETFL, 0);
    }
}

void ckpt_file_streams_open(void)
{
    struct stat status;

    for (int i = 0; i < 3; i++) {
        learn(i, i, fstat(i, &status) == 0 && is_file_of_launcher(i, &status));
    }
}

/* Updates CKPT_OUTPUT in place, so that a program that this one executes finds the new
 * files. */
static void renew_variable(void)
{
    extern char **environ;
    static const char name[] = CKPT_OUTPUT_VARIABLE "=";
    char text[CKPT_OUTPUT_SIZE];

    ckpt_output_text(text);
    for (char **at = environ; at != NULL && *at != NULL; at++) {
        char *value = *at + sizeof name - 1;

        if (ckpt_text_starts(*at, name) &&
            ckpt_text_length(value) == ckpt_text_length(text)) {
            (void)ckpt_text_copy(value, sizeof text, text);
        }
    }
}

void ckpt_file_streams_resume(const struct ckpt_file *files, size_t count)
{
    for (int i = 0; i < 3; i++) {
        streams[i].type = 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (files[i].kind == CKPT_FILE_STREAM && files[i].detail < 3) {
            learn((int)files[i].detail, files[i].descriptor,
                  files[i].detail != 0);
        }
    }
    renew_variable();
}

static int is_stream(const struct ckpt_file_probe *probe, int stream)
{
    return streams[stream].type == (probe->status.st_mode & S_IFMT) &&
           streams[stream].device == probe->status.st_dev &&
           streams[stream].inode == probe->status.st_ino;
}

/* Returns 1 if the descriptor shares the launcher's open file: the program may have opened the
 * file itself. */
static int is_same_open_file(const struct ckpt_file_probe *probe, int stream)
{
    const int flags = (int)ckpt_sys_fcntl(stream, F_GETFL, 0);
    struct stat status;

    if (probe->fd == stream) {
        return 1;
    }
    if (flags >= 0 && ckpt_sys_fstat(stream, &status) == 0 &&
        status.st_dev == streams[stream].device &&
        status.st_ino == streams[stream].inode) {
        return ckpt_file_share_open(stream, probe->fd);
    }
    return probe->status_flags == streams[stream].flags; /* a duplicate kept for later */
}

static int find_file(const struct ckpt_file_probe *probe)
{
    for (int i = 1; i < 3; i++) {
        if (is_stream(probe, i) && is_same_open_file(probe, i)) {
            return i;
        }
    }
    return -1;
}

/* Returns the number of the stream, or -1. Several streams may be the same terminal. */
static int find_stream(const struct ckpt_file_probe *probe)
{
    static const int order[] = {1, 2, 0};

    if (S_ISREG(probe->status.st_mode)) {
        return find_file(probe);
    }
    if (probe->fd <= 2 && is_stream(probe, probe->fd)) {
        return probe->fd;
    }
    if (S_ISCHR(probe->status.st_mode) && !is_terminal(&probe->status)) {
        return -1; /* /dev/null: the program may have opened it itself */
    }
    if ((probe->status_flags & O_ACCMODE) == O_RDONLY) {
        return is_stream(probe, 0) ? 0 : -1;
    }
    for (int i = 0; i < 3; i++) {
        if (is_stream(probe, order[i])) {
            return order[i];
        }
    }
    return -1;
}

static int matches(const struct ckpt_file_probe *probe)
{
    return find_stream(probe) >= 0;
}

/* ---- Standard input -------------------------------------------------------------- */

static int is_input(const struct ckpt_file *file)
{
    return file->kind == CKPT_FILE_STREAM && file->detail == 0;
}

/* Returns 1 if no process has the other end of the pipe. */
static int has_ended(int fd)
{
    struct pollfd file = {fd, 0, 0};
    const struct timespec now = {0, 0};

    return ckpt_syscall6(SYS_ppoll, (long)&file, 1, (long)&now, 0, 0, 0) == 1 &&
           (file.revents & POLLHUP) != 0;
}

/* Saves a pipe without a relay: its other end is closed, or in a process outside the job. */
static int save_pipe(const struct ckpt_file_probe *probe, struct ckpt_file *file,
                     struct ckpt_failure *failure)
{
    const int ended = has_ended(probe->fd); /* must be asked before the bytes are copied */
    int error = ckpt_pipe_save_bytes(probe, file, failure);

    file->value = CKPT_INPUT_SAVED | (ended ? CKPT_INPUT_ENDED : 0);
    return error;
}

static int save_held(const struct ckpt_input_held *held, struct ckpt_file *file)
{
    void *bytes;

    file->offset = held->position;
    file->value = CKPT_INPUT_SAVED | held->flags;
    if (held->size == 0) {
        return 0;
    }
    bytes = ckpt_file_payload(file, held->size);
    return bytes == NULL ? -ENOMEM : ckpt_input_read(held, bytes);
}

static int save_input(const struct ckpt_file_save *save,
                      const struct ckpt_file_probe *probe,
                      struct ckpt_file *file, struct ckpt_failure *failure)
{
    struct ckpt_input_held held;
    int result;

    for (size_t i = 0; i < save->count; i++) {
        if (is_input(&save->files[i]) && save->files[i].value != 0) {
            file->value = CKPT_INPUT_SAVED | CKPT_INPUT_SAME;
            return 0;
        }
    }
    result = ckpt_input_hold(probe->fd, &held, failure);
    if (result <= 0) {
        return result < 0 ? result : save_pipe(probe, file, failure);
    }
    result = save_held(&held, file);
    ckpt_input_release(&held);
    return result == 0 ? 0
                       : ckpt_fail(failure, result,
                                   "the unread standard input (%l bytes) cannot "
                                   "be saved: error %l",
                                   (long)held.size,
                                   (long)-result);
}

static int save(const struct ckpt_file_save *save,
                const struct ckpt_file_probe *probe, struct ckpt_file *file,
                struct ckpt_failure *failure)
{
    file->detail = (uint32_t)find_stream(probe);
    if (is_input(file) && S_ISFIFO(probe->status.st_mode) &&
        (probe->status_flags & O_ACCMODE) == O_RDONLY) {
        return save_input(save, probe, file, failure);
    }
    return 0;
}

/* Makes a pipe with the saved bytes and no writer. Returns a descriptor or -errno. */
static int make_ended(const void *bytes, size_t size)
{
    int ends[2];
    int error = 0;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -errno;
    }
    if (size != 0 && write(ends[1], bytes, size) != (ssize_t)size) {
        error = -EIO;
    }
    close(ends[1]);
    if (error != 0) {
        close(ends[0]);
    }
    return error != 0 ? error : ends[0];
}

static int start_relay(const struct ckpt_file_restore *restore,
                       const struct ckpt_file *file, const void *bytes,
                       struct ckpt_failure *failure)
{
    const char *input = getenv(CKPT_INPUT_VARIABLE);
    const char *libraries = getenv("CKPT_LIBDIR");
    char program[PATH_MAX];
    struct ckpt_input_start start = {
        .program = program,
        .source = restore->streams[0],
        .position = file->offset,
        .bytes = bytes,
        .size = file->payload_size,
    };

    start.is_kept = input != NULL && strcmp(input, CKPT_INPUT_AGAIN) == 0;
    start.skip = start.is_kept ? start.position + start.size : 0;
    if ((file->value & CKPT_INPUT_ENDED) != 0) {
        start.source = -1;
    }
    snprintf(program, sizeof program, "%s/%s", libraries == NULL ? "" : libraries,
             CKPT_RELAY_PROGRAM);
    return ckpt_input_start(&start, failure);
}

static int make_input(const struct ckpt_file_restore *restore,
                      const struct ckpt_file *file, struct ckpt_failure *failure)
{
    const void *bytes = ckpt_file_saved_bytes(restore, file);

    if (file->payload_size != 0 && bytes == NULL) {
        return ckpt_refuse(failure, CKPT_REFUSAL_UNUSABLE_CHECKPOINT, -EINVAL,
                           "the image lacks its bytes");
    }
    if ((file->value & CKPT_INPUT_ENDED) != 0 && file->payload_size <= PIPE_SIZE) {
        return make_ended(bytes, file->payload_size);
    }
    return start_relay(restore, file, bytes, failure);
}

/* The first descriptor of the input creates it; the others are duplicates. */
static int restore_input(struct ckpt_file_restore *restore,
                         const struct ckpt_file *file,
                         struct ckpt_failure *failure)
{
    struct ckpt_file_made *made = ckpt_file_find_made(restore, file);
    struct ckpt_failure why = {0};
    int fd;

    if (made == NULL) {
        fd = make_input(restore, file, &why);
        if (fd < 0) {
            return ckpt_file_lost(restore, file, fd,
                                  why.text[0] != '\0' ? why.text : strerror(-fd),
                                  failure);
        }
        made = ckpt_file_add_made(restore, file, fd, -1);
    }
    fd = made == NULL ? -EMFILE : dup(made->fds[0]);
    return fd < 0 ? ckpt_file_lost(restore, file, fd,
                                   "there are too many descriptors", failure)
                  : fd;
}

static int restore(struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, struct ckpt_failure *failure)
{
    int fd = -1;

    if (is_input(file) && (file->value & CKPT_INPUT_SAVED) != 0) {
        return restore_input(restore, file, failure);
    }
    if (file->detail < 3) {
        fd = restore->streams[file->detail];
    }
    if (fd < 0) {
        return ckpt_file_lost(restore, file, -EBADF,
                              "the launcher gave no such stream", failure);
    }
    fd = dup(fd);
    return fd < 0 ? ckpt_file_lost(restore, file, -errno,
                                   "there are too many descriptors", failure)
                  : fd;
}

const struct ckpt_file_ops ckpt_file_stream = {
    .kind = CKPT_FILE_STREAM,
    .shared = 0, /* one terminal now may become two pipes at the restart */
    .matches = matches,
    .save = save,
    .restore = restore,
};
