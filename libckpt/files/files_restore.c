/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * files_restore.c - gives the restart program the descriptor table of the saved process.
 *
 * Temporary descriptors (the launcher's streams, the ends of a pipe) have numbers above all
 * saved ones, so that they never collide.
 */
#include "files/files.h"

#include "base/invariant.h"
#include "files/concealed_file.h"
#include "files/file_kind.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct ckpt_file_ops *const kinds[] = {
    [CKPT_FILE_STREAM] = &ckpt_file_stream,
    [CKPT_FILE_REGULAR] = &ckpt_file_regular,
    [CKPT_FILE_PIPE] = &ckpt_file_pipe,
    [CKPT_FILE_EVENTFD] = &ckpt_file_eventfd,
    [CKPT_FILE_DEVICE] = &ckpt_file_device,
    [CKPT_FILE_DIRECTORY] = &ckpt_file_directory,
    [CKPT_FILE_UNNAMED] = &ckpt_file_unnamed,
    [CKPT_FILE_MEMFD] = &ckpt_file_memfd,
    [CKPT_FILE_EPOLL] = &ckpt_file_epoll,
    [CKPT_FILE_SOCKET] = &ckpt_file_socket,
    [CKPT_FILE_INOTIFY] = &ckpt_file_inotify,
    [CKPT_FILE_SIGNALFD] = &ckpt_file_signalfd,
    [CKPT_FILE_TIMERFD] = &ckpt_file_timerfd,
    [CKPT_FILE_PROCESS] = &ckpt_file_process,
};

static int is_listed(int fd, const int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fds[i] == fd) {
            return 1;
        }
    }
    return 0;
}

static int is_given(const struct ckpt_file_restore *restore, int fd)
{
    for (size_t i = 0; i < restore->saved.given_count; i++) {
        if (restore->saved.given[i].fd == fd) {
            return 1;
        }
    }
    return 0;
}

static int is_saved(const struct ckpt_file_restore *restore, int fd)
{
    for (size_t i = 0; i < restore->saved.count; i++) {
        if (restore->saved.files[i].descriptor == fd) {
            return 1;
        }
    }
    return 0;
}

static int check_files(const struct ckpt_file_restore *restore, const int *keep,
                       size_t keep_count, struct ckpt_failure *failure)
{
    for (size_t i = 0; i < restore->saved.count; i++) {
        const struct ckpt_file *file = &restore->saved.files[i];

        if (file->descriptor < 0 || file->kind < CKPT_FILE_STREAM ||
            file->kind >= sizeof kinds / sizeof kinds[0] ||
            kinds[file->kind] == NULL) {
            return ckpt_refuse(failure, CKPT_REFUSAL_UNUSABLE_CHECKPOINT, -EINVAL,
                               "descriptor %d of the image is wrong",
                               file->descriptor);
        }
        if (is_listed(file->descriptor, keep, keep_count)) {
            return ckpt_refuse(failure, CKPT_REFUSAL_ID_IN_USE, -EEXIST,
                               "descriptor %d is in use by the restart program",
                               file->descriptor);
        }
    }
    return 0;
}

typedef int (*step_function)(struct ckpt_file_restore *restore,
                             const struct ckpt_file *file,
                             struct ckpt_failure *failure);

/* Checks all descriptors before any name is created. */
static int check_all(const struct ckpt_file_restore *restore,
                     struct ckpt_failure *failure)
{
    const struct ckpt_file *files = restore->saved.files;
    int error = 0;

    for (size_t i = 0; i < restore->saved.count && error == 0; i++) {
        if (files[i].same_as < 0 && kinds[files[i].kind]->check != NULL) {
            error = kinds[files[i].kind]->check(restore, &files[i], failure);
        }
    }
    return error;
}

static step_function prepare_of(const struct ckpt_file_ops *kind)
{
    return kind->prepare;
}

static step_function finish_of(const struct ckpt_file_ops *kind)
{
    return kind->finish;
}

static step_function change_of(const struct ckpt_file_ops *kind)
{
    return kind->change;
}

/* Calls one step for all descriptors. */
static int step_all(struct ckpt_file_restore *restore,
                    step_function (*step_of)(const struct ckpt_file_ops *kind),
                    struct ckpt_failure *failure)
{
    const struct ckpt_file *files = restore->saved.files;
    int error = 0;

    for (size_t i = 0; i < restore->saved.count && error == 0; i++) {
        const step_function step = step_of(kinds[files[i].kind]);

        CKPT_INVARIANT(kinds[files[i].kind] != NULL); /* see check_files() */
        if (step != NULL) {
            error = step(restore, &files[i], failure);
        }
    }
    return error;
}

/* Finds the numbers above all saved ones and moves the launcher's streams there. */
static int lift_streams(struct ckpt_file_restore *restore,
                        struct ckpt_failure *failure)
{
    restore->first_free = 3;
    for (size_t i = 0; i < restore->saved.count; i++) {
        if (restore->saved.files[i].descriptor >= restore->first_free) {
            restore->first_free = restore->saved.files[i].descriptor + 1;
        }
    }
    for (int i = 0; i < 3; i++) {
        restore->streams[i] = fcntl(i, F_DUPFD_CLOEXEC, restore->first_free);
        if (restore->streams[i] < 0 && errno != EBADF) {
            return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_KERNEL, -errno,
                               "descriptors above %d are not allowed here "
                               "(ulimit -n): %s",
                               restore->first_free, strerror(errno));
        }
    }
    return 0;
}

/* Closes the restart program's descriptors except keep[], the given ones and the streams. */
static int close_others(const struct ckpt_file_restore *restore,
                        const int *keep, size_t keep_count,
                        struct ckpt_failure *failure)
{
    DIR *directory = opendir("/proc/self/fd");
    struct dirent *entry;

    if (directory == NULL) {
        return ckpt_fail(failure, -errno, "cannot read /proc/self/fd: %s",
                         strerror(errno));
    }
    while ((entry = readdir(directory)) != NULL) {
        int fd = atoi(entry->d_name);

        if (entry->d_name[0] != '.' && fd > 2 && fd != dirfd(directory) &&
            !is_listed(fd, restore->streams, 3) &&
            !is_listed(fd, keep, keep_count) && !is_given(restore, fd)) {
            close(fd);
        }
    }
    closedir(directory);
    return 0;
}

static int restore_one(struct ckpt_file_restore *restore,
                       const struct ckpt_file *file,
                       struct ckpt_failure *failure)
{
    int flags = (file->descriptor_flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0;
    int error;
    int fd;

    if (file->same_as >= 0) {
        fd = fcntl(file->same_as, F_DUPFD_CLOEXEC, restore->first_free);
        error = -errno;
    } else {
        fd = kinds[file->kind]->restore(restore, file, failure);
        if (fd < 0) {
            return fd;
        }
        fd = ckpt_file_lift(restore, fd);
        error = fd;
    }
    CKPT_INVARIANT(fd < 0 || fd > file->descriptor); /* dup3() needs two numbers */
    if (fd >= 0 && dup3(fd, file->descriptor, flags) < 0) {
        error = -errno;
        close(fd);
        fd = -1;
    }
    if (fd < 0) {
        return ckpt_file_lost(restore, file, error, strerror(-error), failure);
    }
    close(fd);
    return 0;
}

static void close_helpers(struct ckpt_file_restore *restore)
{
    for (int i = 0; i < 3; i++) {
        if (restore->streams[i] >= 0) {
            close(restore->streams[i]);
        }
    }
    for (size_t i = 0; i < restore->made_count; i++) {
        close(restore->made[i].fds[0]);
        close(restore->made[i].fds[1]);
    }
    free(restore->made);
}

/* Raises the limit on descriptor numbers as far as allowed; the saved process may have lowered
 * it after opening its files. */
static void raise_limit(struct rlimit *old)
{
    struct rlimit raised;

    getrlimit(RLIMIT_NOFILE, old);
    raised = *old;
    raised.rlim_cur = raised.rlim_max;
    setrlimit(RLIMIT_NOFILE, &raised);
}

/* Adjusts the paths of files that were concealed. *settled_p: a copy of the saved files with
 * the new paths; the caller frees it. Returns 0 or -errno with the reason. */
static int settle_concealed(struct ckpt_file_restore *restore,
                            struct ckpt_file **settled_p, struct ckpt_failure *failure)
{
    const size_t count = restore->saved.count;
    struct ckpt_file *files = malloc((count + 1) * sizeof *files);
    int error = 0;

    *settled_p = files;
    if (files == NULL) {
        return ckpt_fail(failure, -ENOMEM, "no memory for %u descriptors", (unsigned)count);
    }
    for (size_t i = 0; i < count && error == 0; i++) {
        files[i] = restore->saved.files[i];
        if (files[i].kind == CKPT_FILE_REGULAR || files[i].kind == CKPT_FILE_DIRECTORY) {
            const int is_written = files[i].kind == CKPT_FILE_REGULAR &&
                                   (files[i].status_flags & O_ACCMODE) != O_RDONLY;

            files[i].path += (ckpt_string_t)ckpt_concealed_file_settle(
                restore->saved.strings + files[i].path, is_written, failure, &error);
        }
    }
    restore->saved.files = files;
    return error;
}

int ckpt_files_restore(const struct ckpt_saved_files *saved, const int *keep,
                       size_t keep_count, struct ckpt_failure *failure)
{
    struct ckpt_file_restore restore = {
        .saved = *saved,
        .streams = {-1, -1, -1},
    };
    struct ckpt_file *files = NULL;
    struct rlimit limit;
    int error;

    raise_limit(&limit);
    error = check_files(&restore, keep, keep_count, failure);
    if (error == 0) {
        error = settle_concealed(&restore, &files, failure);
    }
    if (error == 0) {
        error = check_all(&restore, failure);
    }
    if (error == 0) {
        error = step_all(&restore, prepare_of, failure);
    }
    if (error == 0) {
        error = lift_streams(&restore, failure);
    }
    if (error == 0) {
        error = close_others(&restore, keep, keep_count, failure);
    }
    for (size_t i = 0; i < saved->count && error == 0; i++) {
        error = restore_one(&restore, &files[i], failure);
    }
    for (int i = 0; i < 3 && error == 0; i++) {
        if (!is_saved(&restore, i) && !is_listed(i, keep, keep_count)) {
            close(i);
        }
    }
    if (error == 0) {
        error = step_all(&restore, finish_of, failure);
    }
    if (error == 0) {
        error = step_all(&restore, change_of, failure);
    }
    ckpt_file_forget_names(&restore, error != 0);
    close_helpers(&restore);
    free(files);
    setrlimit(RLIMIT_NOFILE, &limit);
    return error;
}

static int fill_one(const struct ckpt_file_restore *restore,
                    const struct ckpt_file *file, struct ckpt_failure *failure)
{
    int error = 0;
    int fd;

    if (file->kind == CKPT_FILE_SOCKET) {
        error = ckpt_socket_fill_given(restore, file);
    } else if (file->kind == CKPT_FILE_PIPE) {
        fd = ckpt_file_given(restore, file->inode,
                             restore->saved.strings + file->path);
        error = fd < 0 ? -EBADF : ckpt_pipe_fill(restore, file, fd);
    }
    return error == 0 ? 0
                      : ckpt_file_lost(restore, file, error, strerror(-error),
                                       failure);
}

int ckpt_files_fill(const struct ckpt_saved_files *saved,
                    struct ckpt_failure *failure)
{
    const struct ckpt_file_restore restore = {.saved = *saved};
    const struct ckpt_file *files = saved->files;
    int error = 0;

    for (size_t i = 0; i < saved->count && error == 0; i++) {
        if (files[i].same_as < 0 && files[i].sharers > 1 &&
            files[i].size != 0) {
            error = fill_one(&restore, &files[i], failure);
        }
    }
    return error;
}
