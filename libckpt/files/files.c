/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * files.c - describes the descriptor table of this process.
 */
#include "files/files.h"

#include "base/descriptor_info.h"
#include "base/directory.h"
#include "base/invariant.h"
#include "base/text.h"
#include "files/file_kind.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

/* Older headers lack some of these; no header has MQUEUE_MAGIC. */
#define MQUEUE_MAGIC 0x19800202
#ifndef SECRETMEM_MAGIC
#define SECRETMEM_MAGIC 0x5345434d
#endif
#ifndef PID_FS_MAGIC
#define PID_FS_MAGIC 0x50494446
#endif

/* The first kind that matches applies. */
static const struct ckpt_file_ops *const kinds[] = {
    &ckpt_file_stream,
    &ckpt_file_process,
    &ckpt_file_unnamed,
    &ckpt_file_memfd,
    &ckpt_file_regular,
    &ckpt_file_pipe,
    &ckpt_file_eventfd,
    &ckpt_file_device,
    &ckpt_file_directory,
    &ckpt_file_epoll,
    &ckpt_file_socket,
    &ckpt_file_inotify,
    &ckpt_file_signalfd,
    &ckpt_file_timerfd,
};

/* Result of the last save. It lies in saved memory, so the code after a restart has it, too. */
static const struct ckpt_file *last_files;
static size_t last_count;
static const char *last_strings;

void ckpt_files_open(void)
{
    ckpt_file_streams_open();
    ckpt_file_limit_open();
}

void ckpt_files_resume(void)
{
    ckpt_file_contents_gone();
    ckpt_file_streams_resume(last_files, last_count);
}

int ckpt_files_open_late(struct ckpt_failure *failure)
{
    return ckpt_file_open_late(last_files, last_count, last_strings, failure);
}

int ckpt_files_start_timers(struct ckpt_failure *failure)
{
    return ckpt_file_timers_start(last_files, last_count, failure);
}

/* Returns 1 if the last save found an open socket with this inode. */
static int has_socket(uint64_t inode)
{
    for (size_t i = 0; i < last_count; i++) {
        if (last_files[i].kind == CKPT_FILE_SOCKET &&
            last_files[i].inode == inode) {
            return 1;
        }
    }
    return 0;
}

/* Returns 1 if the last save found the other end of the pipe, with an access mode other than
 * `mode`. */
static int has_other_end(const struct ckpt_file *pipe, uint32_t mode)
{
    for (size_t i = 0; i < last_count; i++) {
        if (last_files[i].kind == CKPT_FILE_PIPE &&
            last_files[i].device == pipe->device &&
            last_files[i].inode == pipe->inode &&
            (last_files[i].status_flags & O_ACCMODE) != mode) {
            return 1;
        }
    }
    return 0;
}

static int leads_out(const struct ckpt_file *file)
{
    const uint32_t mode = file->status_flags & O_ACCMODE;

    switch (file->kind) {
    case CKPT_FILE_SOCKET:
        return file->value != 0 && !has_socket(file->value);
    case CKPT_FILE_PIPE:
        return mode != O_RDWR && !has_other_end(file, mode);
    default:
        return 0;
    }
}

int ckpt_files_lead_out(void)
{
    for (size_t i = 0; i < last_count; i++) {
        if (leads_out(&last_files[i])) {
            return 1;
        }
    }
    return 0;
}

/* Names a file that looks regular but belongs to a kernel-internal file system, so that it
 * cannot be reopened. Returns NULL for all other files. */
static const char *kernel_object(const struct ckpt_file_probe *probe)
{
    static const struct {
        long type; /* f_type of statfs() */
        const char *name;
    } objects[] = {
        {MQUEUE_MAGIC, "a POSIX message queue"},
        {SECRETMEM_MAGIC,
         "secret memory (memfd_secret), which only the program itself can read"},
        {PID_FS_MAGIC, "a process descriptor"},
    };
    struct statfs system;

    if (!S_ISREG(probe->status.st_mode) ||
        ckpt_syscall3(SYS_fstatfs, probe->fd, (long)&system, 0) != 0) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        if (system.f_type == objects[i].type) {
            return objects[i].name;
        }
    }
    return NULL;
}

/* Names the type of a descriptor of an unknown kind. */
static const char *name_type(const struct ckpt_file_probe *probe)
{
    static const struct {
        const char *path;
        const char *name;
    } anonymous[] = {
        {"anon_inode:[fanotify]", "a fanotify descriptor"},
        {"anon_inode:[pidfd]", "a process descriptor"},
        {"anon_inode:[userfaultfd]", "a userfaultfd descriptor"},
        {"anon_inode:[perf_event]", "a performance counter"},
        {"anon_inode:[io_uring]", "an io_uring descriptor"},
    };

    if (kernel_object(probe) != NULL) {
        return kernel_object(probe);
    }
    for (size_t i = 0; i < sizeof anonymous / sizeof anonymous[0]; i++) {
        if (ckpt_text_starts(probe->path, anonymous[i].path)) {
            return anonymous[i].name;
        }
    }
    if ((probe->status_flags & O_PATH) != 0) {
        return "open as a place only (O_PATH)";
    }
    switch (probe->status.st_mode & S_IFMT) {
    case S_IFCHR:
        return "a device that cannot be opened again as it was";
    case S_IFBLK:
        return "a block device";
    default:
        return "of a kind that is not known";
    }
}

static int examine(int fd, struct ckpt_file_probe *probe,
                   struct ckpt_failure *failure)
{
    char link[64];
    long result;

    probe->fd = fd;
    ckpt_text_format(link, sizeof link, "/proc/self/fd/%d", fd);
    result = ckpt_sys_readlink(link, probe->path, sizeof probe->path - 1);
    probe->path[result > 0 ? result : 0] = '\0';
    if (result >= 0) {
        result = ckpt_sys_fstat(fd, &probe->status);
    }
    if (result >= 0) {
        result = ckpt_sys_fcntl(fd, F_GETFL, 0);
    }
    if (result < 0) {
        return ckpt_fail(failure, (int)result,
                         "descriptor %d cannot be examined: error %l", fd,
                         -result);
    }
    probe->status_flags = (int)result;
    (void)ckpt_descriptor_info(fd, probe->info, sizeof probe->info);
    return 0;
}

/* Returns the first described file that shares the probe's open file, or NULL. */
static const struct ckpt_file *find_shared(const struct ckpt_file_save *save,
                                           const struct ckpt_file_probe *probe)
{
    for (size_t i = 0; i < save->count; i++) {
        const struct ckpt_file *file = &save->files[i];

        if (file->kind != CKPT_FILE_STREAM && file->same_as < 0 &&
            file->device == probe->status.st_dev &&
            file->inode == probe->status.st_ino &&
            file->status_flags == (uint32_t)probe->status_flags &&
            ckpt_file_share_open(file->descriptor, probe->fd)) {
            return file;
        }
    }
    return NULL;
}

static const struct ckpt_file_ops *
find_kind(const struct ckpt_file_probe *probe)
{
    if (kernel_object(probe) != NULL) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i]->matches(probe)) {
            return kinds[i];
        }
    }
    return NULL;
}

/* Fills in the fields that are common to all kinds. */
static int describe(const struct ckpt_file_save *save,
                    const struct ckpt_file_probe *probe, struct ckpt_file *file,
                    struct ckpt_failure *failure)
{
    *file = (struct ckpt_file){
        .device = probe->status.st_dev,
        .inode = probe->status.st_ino,
        .descriptor = probe->fd,
        .descriptor_flags = (uint32_t)ckpt_sys_fcntl(probe->fd, F_GETFD, 0),
        .status_flags = (uint32_t)probe->status_flags,
        .same_as = -1,
        .path = ckpt_arena_string(save->arena, probe->path),
    };
    if (file->path == 0) {
        return ckpt_fail(failure, -ENOMEM,
                         "no room for the names of the open files");
    }
    return 0;
}

static int save_one(const struct ckpt_file_save *save,
                    const struct ckpt_file_probe *probe, struct ckpt_file *file,
                    struct ckpt_failure *failure)
{
    const struct ckpt_file_ops *kind = find_kind(probe);
    const struct ckpt_file *shared;
    int error;

    if (kind == NULL) {
        return ckpt_file_refuse(probe, name_type(probe), failure);
    }
    if ((probe->status_flags & O_ASYNC) != 0) {
        return ckpt_file_refuse(probe, "set to send signals (O_ASYNC)",
                                failure);
    }
    error = describe(save, probe, file, failure);
    if (error != 0) {
        return error;
    }
    file->kind = kind->kind;
    shared = kind->shared ? find_shared(save, probe) : NULL;
    if (shared != NULL) {
        file->same_as = shared->descriptor;
        CKPT_INVARIANT(file->same_as < file->descriptor); /* a restart makes that one first */
        file->offset = shared->offset;
        file->size = shared->size;
        file->value = shared->value;
        file->detail = shared->detail;
        return 0;
    }
    return kind->save(save, probe, file, failure);
}

struct listing {
    int (*is_lower)(int fd);
    int *fds; /* [capacity] */
    size_t capacity;
    size_t count; /* may exceed `capacity` */
};

static int list_descriptor(const struct ckpt_directory_entry *entry,
                           void *argument)
{
    struct listing *listing = argument;
    uint64_t fd;

    if (ckpt_text_decimal(entry->name, &fd) == NULL ||
        (int)fd == entry->descriptor || listing->is_lower((int)fd)) {
        return 0;
    }
    if (listing->count < listing->capacity) {
        listing->fds[listing->count] = (int)fd;
    }
    listing->count++;
    return 0;
}

/* Lists the application's descriptors into fds[capacity], or only counts them. Returns their
 * number or -errno. */
static long list_descriptors(int (*is_lower)(int fd), int *fds, size_t capacity)
{
    struct listing listing = {is_lower, fds, capacity, 0};
    int error =
        ckpt_directory_each("/proc/self/fd", list_descriptor, &listing);

    return error != 0 ? error : (long)listing.count;
}

/* Fills save->descriptors and allocates save->files. */
static int open_save(struct ckpt_file_save *save, int (*is_lower)(int fd),
                     struct ckpt_failure *failure)
{
    long count = list_descriptors(is_lower, NULL, 0);
    int *fds;

    if (count < 0) {
        return ckpt_fail(failure, (int)count,
                         "cannot read /proc/self/fd: error %l", -count);
    }
    fds = (int *)ckpt_arena_alloc(save->arena, (size_t)count * sizeof *fds);
    save->files = (struct ckpt_file *)ckpt_arena_alloc(
        save->arena, (size_t)count * sizeof *save->files);
    if (fds == NULL || save->files == NULL) {
        return ckpt_fail(failure, -ENOMEM, "no room for the open files");
    }
    if (list_descriptors(is_lower, fds, (size_t)count) != count) {
        return ckpt_refuse(failure, CKPT_REFUSAL_DESCRIPTORS_CHANGE, -EAGAIN,
                           "files were opened or closed meanwhile");
    }
    save->descriptors = fds;
    save->descriptor_count = (size_t)count;
    return 0;
}

int ckpt_files_save(struct ckpt_arena *arena, int (*is_lower)(int fd),
                    struct ckpt_file **files_p, size_t *count_p,
                    struct ckpt_failure *failure)
{
    struct ckpt_file_save save = {.arena = arena};
    struct ckpt_file_probe *probe;
    int error;

    ckpt_file_forget_payloads();
    ckpt_files_release();
    ckpt_file_forget_locks();
    probe = (struct ckpt_file_probe *)ckpt_arena_alloc(arena, sizeof *probe);
    if (probe == NULL) {
        return ckpt_fail(failure, -ENOMEM, "no room for the open files");
    }
    error = open_save(&save, is_lower, failure);
    if (error != 0) {
        return error;
    }
    for (size_t i = 0; i < save.descriptor_count; i++) {
        error = examine(save.descriptors[i], probe, failure);
        if (error == 0) {
            error = save_one(&save, probe, &save.files[i], failure);
        }
        if (error != 0) {
            return error;
        }
        CKPT_INVARIANT(save.files[i].descriptor == save.descriptors[i] && save.files[i].kind != 0);
        CKPT_INVARIANT(i == 0 || save.descriptors[i - 1] < save.descriptors[i]);
        save.count++;
    }
    last_files = save.files;
    last_count = save.count;
    last_strings = arena->strings;
    *files_p = save.files;
    *count_p = save.count;
    return 0;
}
