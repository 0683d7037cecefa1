/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_file.c - files and directories below /proc/PID of this process and its threads:
 * reopened below /proc/self.
 *
 * The kernel shows them as /proc/PID/... and /proc/PID/task/TID/.... Both numbers change at a
 * restart. When the restart program opens files, the process exists but its threads do not. So
 * the files of threads are placeholders until the threads exist (ckpt_files_open_late).
 *
 * A read from a file of an ended process or thread fails with ESRCH. A restart opens it as a
 * file of another ended process.
 */
#include "files/file_kind.h"

#include "base/text.h"
#include "sys/syscall.h"
#include "task/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROC                 "/proc/"
#define SELF                 "/proc/self"
#define TASK                 "/task/"
#define NUMBER_OF_DESCRIPTOR "/fdinfo/" /* exists only while the descriptor is open */

/* The parts of such a path: PROC, process, optionally TASK and thread, rest. */
struct place {
    uint64_t process; /* process id as the kernel shows it; 0: "self" */
    uint64_t thread;  /* thread id; 0: none */
    const char *rest; /* "" or "/..." */
};

/* Parses "123" or "123/...". Returns the end of the number, or NULL. */
static const char *component(const char *text, uint64_t *number_p)
{
    const char *end = ckpt_text_decimal(text, number_p);

    return end != NULL && (*end == '/' || *end == '\0') ? end : NULL;
}

/* Splits the path. Returns 1 if it is below /proc/PID or /proc/self. */
static int find_place(const char *path, struct place *place)
{
    const char *rest;

    *place = (struct place){0};
    if (!ckpt_text_starts(path, PROC)) {
        return 0;
    }
    rest = ckpt_text_starts(path, SELF) ? path + sizeof SELF - 1
                                        : component(path + sizeof PROC - 1,
                                                    &place->process);
    if (rest == NULL) {
        return 0;
    }
    place->rest = rest;
    if (ckpt_text_starts(rest, TASK)) {
        rest = component(rest + sizeof TASK - 1, &place->thread);
        place->rest = rest == NULL ? place->rest : rest;
    }
    return 1;
}

/* Returns 1 if a component of the path is a number. */
static int has_number(const char *path)
{
    uint64_t number;

    for (path = strchr(path, '/'); path != NULL; path = strchr(path + 1, '/')) {
        if (component(path + 1, &number) != NULL) {
            return 1;
        }
    }
    return 0;
}

/* Returns 1 for a namespace, which the kernel shows as "NAME:[INODE]". */
static int is_namespace(const struct ckpt_file_probe *probe)
{
    return probe->path[0] != '/' && strstr(probe->path, ":[") != NULL;
}

static int matches(const struct ckpt_file_probe *probe)
{
    const mode_t mode = probe->status.st_mode;
    struct statfs system;
    struct place place;

    if ((!S_ISREG(mode) && !S_ISDIR(mode)) ||
        (probe->status_flags & O_PATH) != 0 ||
        ckpt_syscall3(SYS_fstatfs, probe->fd, (long)&system, 0) != 0) {
        return 0;
    }
    if (system.f_type == NSFS_MAGIC) {
        return is_namespace(probe);
    }
    return system.f_type == PROC_SUPER_MAGIC &&
           (ckpt_text_starts(probe->path, PROC)
                ? find_place(probe->path, &place)
                : has_number(probe->path));
}

/* Returns the number of this process in /proc, which may belong to another pid namespace than
 * getpid(). */
static uint64_t own_number(void)
{
    char text[32];
    uint64_t number = 0;
    const long length = ckpt_sys_readlink(SELF, text, sizeof text - 1);

    text[length > 0 ? length : 0] = '\0';
    return ckpt_text_decimal(text, &number) == NULL ? 0 : number;
}

static int leads_to(const char *path, const struct ckpt_file_probe *probe)
{
    struct stat named;

    return ckpt_sys_stat(path, &named) == 0 &&
           named.st_ino == probe->status.st_ino &&
           named.st_dev == probe->status.st_dev;
}

static int keep_path(const struct ckpt_file_save *save, const char *path,
                     struct ckpt_file *file, struct ckpt_failure *failure)
{
    file->path = ckpt_arena_string(save->arena, path);
    return file->path != 0 ? 0
                           : ckpt_fail(failure, -ENOMEM, "no room for %s", path);
}

static int save_namespace(const struct ckpt_file_save *save,
                          const struct ckpt_file_probe *probe,
                          struct ckpt_file *file, struct ckpt_failure *failure)
{
    char path[64];
    const size_t prefix = ckpt_text_copy(path, sizeof path, SELF "/ns/");
    char *end;

    ckpt_text_copy(path + prefix, sizeof path - prefix, probe->path);
    end = strstr(path, ":[");
    if (end == NULL) {
        return ckpt_file_refuse(probe, "a namespace of an unknown kind", failure);
    }
    *end = '\0';
    if (!leads_to(path, probe)) {
        return ckpt_file_refuse(probe, "a namespace of another process", failure);
    }
    return keep_path(save, path, file, failure);
}

/* Saves a file of a process or thread that has ended. */
static int save_gone(const struct ckpt_file_save *save,
                     const struct ckpt_file_probe *probe,
                     struct ckpt_file *file, struct ckpt_failure *failure)
{
    char path[PATH_MAX];
    size_t length = ckpt_text_copy(path, sizeof path, probe->path);

    if (ckpt_text_ends(path, CKPT_TEXT_DELETED)) {
        length -= sizeof CKPT_TEXT_DELETED - 1;
        path[length] = '\0';
    }
    file->value |= CKPT_PROCESS_FILE_GONE;
    return keep_path(save, path, file, failure);
}

static int save_own(const struct ckpt_file_save *save,
                    const struct place *place, struct ckpt_file *file,
                    struct ckpt_failure *failure)
{
    char path[PATH_MAX];

    if (place->thread == 0) {
        ckpt_text_format(path, sizeof path, SELF "%s", place->rest);
    } else {
        ckpt_text_format(path, sizeof path, SELF TASK "%l%s",
                         (long)place->thread, place->rest);
    }
    if (place->thread != 0 ||
        ckpt_text_starts(place->rest, NUMBER_OF_DESCRIPTOR)) {
        file->value |= CKPT_PROCESS_FILE_LATE;
    }
    return keep_path(save, path, file, failure);
}

static int save(const struct ckpt_file_save *save,
                const struct ckpt_file_probe *probe, struct ckpt_file *file,
                struct ckpt_failure *failure)
{
    const int64_t offset = ckpt_sys_lseek(probe->fd, 0, SEEK_CUR);
    struct place place;

    if (is_namespace(probe)) {
        return save_namespace(save, probe, file, failure);
    }
    if (!find_place(probe->path, &place)) {
        return ckpt_file_refuse(
            probe, "a file of a process in another mount than /proc", failure);
    }
    file->offset = offset < 0 ? 0 : (uint64_t)offset;
    file->value = S_ISDIR(probe->status.st_mode) ? CKPT_PROCESS_FILE_DIRECTORY : 0;
    if (!leads_to(probe->path, probe)) {
        return save_gone(save, probe, file, failure);
    }
    if (place.process != own_number()) {
        return ckpt_file_refuse(probe,
                                "a file of another process, which has another "
                                "number after a restart; the program must close "
                                "it before a checkpoint",
                                failure);
    }
    return save_own(save, &place, file, failure);
}

static int open_flags(const struct ckpt_file *file)
{
    return ((int)file->status_flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_CLOEXEC;
}

/* Opens the same file below /proc/PID of `process`. If the process lacks it, opens another file
 * that allows these flags. Returns the descriptor or -errno. */
static int open_same(const struct ckpt_file *file, pid_t process,
                     const char *rest)
{
    const char *instead =
        (file->value & CKPT_PROCESS_FILE_DIRECTORY) != 0 ? "" : "/comm";
    char path[PATH_MAX];
    int fd;

    snprintf(path, sizeof path, PROC "%d%s", (int)process, rest);
    fd = open(path, open_flags(file));
    if (fd < 0) {
        snprintf(path, sizeof path, PROC "%d%s", (int)process, instead);
        fd = open(path, open_flags(file));
    }
    return fd < 0 ? -errno : fd;
}

/* Starts a process that exits at once and remains as a zombie. */
static pid_t start_ended(void)
{
    const pid_t child = vfork();

    if (child == 0) {
        _exit(0);
    }
    return child;
}

/* Opens a file of an ended process. Returns the descriptor or -errno. */
static int open_gone(const struct ckpt_file *file, const char *rest)
{
    const struct sigaction keep_zombies = {.sa_handler = SIG_DFL};
    struct sigaction former;
    pid_t child;
    int fd = -EAGAIN;

    sigaction(SIGCHLD, &keep_zombies, &former);
    child = start_ended();
    if (child > 0) {
        fd = open_same(file, child, rest);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    sigaction(SIGCHLD, &former, NULL);
    return fd;
}

/* Checks whether this kernel lets the program open such a file of a thread. Returns 0 or
 * -errno. */
static int check_thread_file(const struct ckpt_file *file, const char *rest)
{
    char path[PATH_MAX];
    int fd;

    if (ckpt_text_starts(rest, NUMBER_OF_DESCRIPTOR)) {
        return 0; /* the descriptor may not exist yet */
    }
    snprintf(path, sizeof path, "/proc/thread-self%s", rest);
    fd = open(path, open_flags(file));
    if (fd < 0) {
        return -errno;
    }
    close(fd);
    return 0;
}

static int restore(struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, struct ckpt_failure *failure)
{
    const char *path = restore->saved.strings + file->path;
    struct place place;
    int error = 0;
    int fd;

    if (!find_place(path, &place)) {
        return ckpt_file_lost(restore, file, -EINVAL, "the image is wrong",
                              failure);
    }
    if ((file->value & CKPT_PROCESS_FILE_GONE) != 0) {
        fd = open_gone(file, place.rest);
    } else if ((file->value & CKPT_PROCESS_FILE_LATE) != 0) {
        error = check_thread_file(file, place.rest);
        fd = error == 0 ? open_gone(file, place.rest) : error;
    } else {
        fd = open(path, open_flags(file));
        error = fd < 0 ? -errno : 0;
        if (fd >= 0 && file->offset != 0 &&
            lseek(fd, (off_t)file->offset, SEEK_SET) < 0) {
            error = -errno;
            close(fd);
        }
        fd = error == 0 ? fd : error;
    }
    return fd >= 0 ? fd
                   : ckpt_file_lost(restore, file, fd, strerror(-fd), failure);
}

/* Computes the present path of a late file. Returns 0 if its thread no longer exists. */
static int late_path(const char *saved, char path[PATH_MAX])
{
    struct place place;
    int thread;

    if (!find_place(saved, &place)) {
        return 0;
    }
    if (place.thread == 0) {
        ckpt_text_copy(path, PATH_MAX, saved);
        return 1;
    }
    thread = ckpt_threads_renumbered((int)place.thread);
    ckpt_text_format(path, PATH_MAX, SELF TASK "%d%s", thread, place.rest);
    return thread > 0;
}

/* Makes all descriptors of *file refer to the open file `fd`. Returns 0 or -errno. */
static int replace(const struct ckpt_file *files, size_t count,
                   const struct ckpt_file *file, int fd)
{
    long result = 0;

    for (size_t i = 0; i < count && result >= 0; i++) {
        if (&files[i] == file || files[i].same_as == file->descriptor) {
            result = ckpt_sys_dup3(
                fd, files[i].descriptor,
                (files[i].descriptor_flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
        }
    }
    return result < 0 ? (int)result : 0;
}

static int open_late(const struct ckpt_file *files, size_t count,
                     const struct ckpt_file *file, const char *path)
{
    long fd = ckpt_sys_open(path, open_flags(file), 0);
    long result = 0;

    if (fd == -ENOENT && strstr(path, NUMBER_OF_DESCRIPTOR) != NULL) {
        return 0; /* it described a descriptor of the old lower half */
    }
    if (fd < 0) {
        return (int)fd;
    }
    if (file->offset != 0) {
        result = ckpt_sys_lseek((int)fd, (int64_t)file->offset, SEEK_SET);
    }
    if (result >= 0) {
        result = replace(files, count, file, (int)fd);
    }
    ckpt_sys_close((int)fd);
    return result < 0 ? (int)result : 0;
}

int ckpt_file_open_late(const struct ckpt_file *files, size_t count,
                        const char *strings, struct ckpt_failure *failure)
{
    static char path[PATH_MAX]; /* threads have small stacks */
    int error;

    for (size_t i = 0; i < count; i++) {
        const struct ckpt_file *file = &files[i];

        if (file->kind != CKPT_FILE_PROCESS || file->same_as >= 0 ||
            (file->value & CKPT_PROCESS_FILE_LATE) == 0 ||
            !late_path(strings + file->path, path)) {
            continue;
        }
        error = open_late(files, count, file, path);
        if (error != 0) {
            return ckpt_refuse(failure, CKPT_REFUSAL_CHANGED_FILE, error,
                               "descriptor %d (%s) cannot be opened again: error %d",
                               file->descriptor, path, -error);
        }
    }
    return 0;
}

const struct ckpt_file_ops ckpt_file_process = {
    .kind = CKPT_FILE_PROCESS,
    .shared = 1,
    .matches = matches,
    .save = save,
    .restore = restore,
};
