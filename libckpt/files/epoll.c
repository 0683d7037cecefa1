/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epoll.c - epoll descriptors: recreated with the same watches.
 *
 * The kernel lists the watches in fdinfo, one per line:
 * "tfd:        5 events:       19 data: 5  pos:0 ino:61af sdev:7".
 * After a restart an edge-triggered watch reports a ready file once more.
 */
#include "files/file_kind.h"

#include "base/text.h"
#include "sys/syscall.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

struct watch {
    struct ckpt_epoll_watch watch;
    uint64_t inode;
};

static int matches(const struct ckpt_file_probe *probe)
{
    return ckpt_text_equal(probe->path, "anon_inode:[eventpoll]");
}

/* Parses the number after `name` in the line at `text`. Returns its end, or
 * NULL. */
static const char *number_after(const char *text, const char *name,
                                int is_decimal, uint64_t *value_p)
{
    const char *at = strstr(text, name);

    if (at == NULL) {
        return NULL;
    }
    at += ckpt_text_length(name);
    while (*at == ' ') {
        at++;
    }
    return is_decimal ? ckpt_text_decimal(at, value_p)
                      : ckpt_text_hexadecimal(at, value_p);
}

/* Parses the next line of a watch. Returns 1, 0 at the end, or -EINVAL. */
static int next_watch(const char **text_p, struct watch *watch)
{
    uint64_t descriptor, events;
    const char *at = strstr(*text_p, "tfd:");

    if (at == NULL) {
        return 0;
    }
    at = number_after(at, "tfd:", 1, &descriptor);
    at = at == NULL ? NULL : number_after(at, "events:", 0, &events);
    at = at == NULL ? NULL : number_after(at, "data:", 0, &watch->watch.data);
    at = at == NULL ? NULL : number_after(at, "ino:", 0, &watch->inode);
    if (at == NULL) {
        return -EINVAL;
    }
    watch->watch.descriptor = (int32_t)descriptor;
    watch->watch.events = (uint32_t)events;
    *text_p = at;
    return 1;
}

/* Returns 1 if the watched descriptor number still refers to the watched file.
 * A watch remains after its number is closed if another descriptor shares the
 * open file. */
static int is_open(const struct ckpt_file_save *save, const struct watch *watch)
{
    struct stat status;

    for (size_t i = 0; i < save->descriptor_count; i++) {
        if (save->descriptors[i] == watch->watch.descriptor) {
            return ckpt_sys_fstat(watch->watch.descriptor, &status) == 0 &&
                   status.st_ino == watch->inode;
        }
    }
    return 0;
}

static int save_watches(const struct ckpt_file_save *save,
                        const struct ckpt_file_probe *probe, const char *text,
                        struct ckpt_file *file, struct ckpt_failure *failure)
{
    const char *at = text;
    struct ckpt_epoll_watch *watches = NULL;
    struct watch watch;
    size_t count = 0;
    int more;

    while ((more = next_watch(&at, &watch)) > 0) {
        count++;
        if (!is_open(save, &watch)) {
            return ckpt_refuse(failure, CKPT_REFUSAL_UNSAVABLE_DESCRIPTOR, -ENOTSUP,
                               "descriptor %d (%s) cannot be saved: it watches "
                               "a file that was descriptor %d, which has been "
                               "closed",
                               probe->fd, probe->path, watch.watch.descriptor);
        }
    }
    if (more < 0) {
        return ckpt_fail(failure, more,
                         "/proc/self/fdinfo/%d is not understood", probe->fd);
    }
    if (count == 0) {
        return 0;
    }
    watches = (struct ckpt_epoll_watch *)ckpt_file_payload(
        file, count * sizeof *watches);
    if (watches == NULL) {
        return ckpt_fail(failure, -ENOMEM, "no room for what epoll watches");
    }
    for (at = text; next_watch(&at, &watch) > 0; watches++) {
        *watches = watch.watch;
    }
    return 0;
}

static int save(const struct ckpt_file_save *save,
                const struct ckpt_file_probe *probe, struct ckpt_file *file,
                struct ckpt_failure *failure)
{
    char *text;
    int error = ckpt_file_whole_info(save, probe->fd, &text, failure);

    return error != 0 ? error
                      : save_watches(save, probe, text, file, failure);
}

static int restore(struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, struct ckpt_failure *failure)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);

    return fd < 0 ? ckpt_file_lost(restore, file, -errno, strerror(errno),
                                   failure)
                  : fd;
}

static int finish(struct ckpt_file_restore *restore,
                  const struct ckpt_file *file, struct ckpt_failure *failure)
{
    const struct ckpt_epoll_watch *watches;
    size_t count = file->payload_size / sizeof *watches;

    if (file->same_as >= 0 || count == 0) {
        return 0;
    }
    watches = (const struct ckpt_epoll_watch *)ckpt_file_saved_bytes(restore,
                                                                     file);
    if (watches == NULL) {
        return ckpt_file_lost(restore, file, -EINVAL,
                              "the image lacks what it watches", failure);
    }
    for (size_t i = 0; i < count; i++) {
        struct epoll_event event = {.events = watches[i].events,
                                    .data.u64 = watches[i].data};

        if (epoll_ctl(file->descriptor, EPOLL_CTL_ADD, watches[i].descriptor,
                      &event) != 0) {
            return ckpt_fail(failure, -errno,
                             "descriptor %d (%s) cannot watch descriptor %d "
                             "again: %s",
                             file->descriptor,
                             restore->saved.strings + file->path,
                             watches[i].descriptor, strerror(errno));
        }
    }
    return 0;
}

const struct ckpt_file_ops ckpt_file_epoll = {
    .kind = CKPT_FILE_EPOLL,
    .shared = 1,
    .matches = matches,
    .save = save,
    .restore = restore,
    .finish = finish,
};
