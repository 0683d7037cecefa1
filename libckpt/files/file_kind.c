/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_kind.c - what the kinds of descriptors have in common: reasons, saved bytes, and helper
 * descriptors.
 */
#include "files/file_kind.h"

#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Saved bytes, newest first. They remain until the next save. */
struct payload {
    struct payload *next;
    size_t size; /* bytes of this structure and the data after it */
};

static struct payload *payloads;

/* ---- Save: quiesced ---------------------------------------------------------------- */

void *ckpt_file_payload(struct ckpt_file *file, size_t size)
{
    struct payload *payload =
        (struct payload *)ckpt_memory_alloc(sizeof *payload + size);

    if (payload == NULL) {
        return NULL;
    }
    payload->next = payloads;
    payload->size = sizeof *payload + size;
    payloads = payload;
    file->payload = (uint64_t)(payload + 1);
    file->payload_size = size;
    return payload + 1;
}

void ckpt_file_forget_payloads(void)
{
    while (payloads != NULL) {
        struct payload *payload = payloads;

        payloads = payload->next;
        ckpt_memory_free(payload, payload->size);
    }
}

int ckpt_file_refuse(const struct ckpt_file_probe *probe, const char *what,
                     struct ckpt_failure *failure)
{
    return ckpt_refuse(failure, CKPT_REFUSAL_UNSAVABLE_DESCRIPTOR, -ENOTSUP,
                       "descriptor %d (%s) cannot be saved: it is %s", probe->fd,
                       probe->path, what);
}

/* Compares open files without kcmp(). The signal for O_ASYNC (never enabled here) belongs to
 * the open file, so a change through one descriptor is visible through the other. */
static int share_signal(int a, int b)
{
    long signal = ckpt_sys_fcntl(a, F_GETSIG, 0);
    long other = signal == SIGIO ? SIGURG : SIGIO;
    int shared;

    if (signal < 0 || ckpt_sys_fcntl(b, F_GETSIG, 0) != signal ||
        ckpt_sys_fcntl(a, F_SETSIG, other) < 0) {
        return 0;
    }
    shared = ckpt_sys_fcntl(b, F_GETSIG, 0) == other;
    ckpt_sys_fcntl(a, F_SETSIG, signal);
    return shared;
}

int ckpt_file_share_open(int a, int b)
{
    int pid = ckpt_sys_getpid();
    long order = ckpt_syscall6(SYS_kcmp, pid, pid, KCMP_FILE, a, b, 0);

    return order < 0 ? share_signal(a, b) : order == 0;
}

/* ---- Restore: normal ---------------------------------------------------------------- */

int ckpt_file_lost(const struct ckpt_file_restore *restore,
                   const struct ckpt_file *file, int error, const char *why,
                   struct ckpt_failure *failure)
{
    const enum ckpt_refusal identity = error == -EINVAL   ? CKPT_REFUSAL_UNUSABLE_CHECKPOINT
                                       : error == -EMFILE ? CKPT_REFUSAL_TOO_MANY_DESCRIPTORS
                                                          : CKPT_REFUSAL_CHANGED_FILE;

    return ckpt_refuse(
        failure, identity, error, "descriptor %d (%s) cannot be restored: %s",
        file->descriptor, restore->saved.strings + file->path, why);
}

const void *ckpt_file_saved_bytes(const struct ckpt_file_restore *restore,
                                  const struct ckpt_file *file)
{
    if (file->payload == 0) {
        return NULL;
    }
    return restore->saved.payload(restore->saved.argument, file->payload,
                                  file->payload_size);
}

int ckpt_file_reopen(const struct ckpt_file_restore *restore,
                     const struct ckpt_file *file, mode_t type, int flags,
                     struct ckpt_failure *failure)
{
    const int never = O_CREAT | O_EXCL | O_TRUNC;
    struct stat status;
    int error;
    int fd;

    fd = open(restore->saved.strings + file->path,
              ((int)file->status_flags & ~never) | flags | O_CLOEXEC);
    if (fd < 0) {
        error = errno;
        return ckpt_file_lost(restore, file, -error, strerror(error), failure);
    }
    if (fstat(fd, &status) != 0 || (status.st_mode & S_IFMT) != type) {
        close(fd);
        return ckpt_file_lost(restore, file, -ESTALE,
                              "it is of another type now", failure);
    }
    return fd;
}

int ckpt_file_lift(const struct ckpt_file_restore *restore, int fd)
{
    int lifted = fcntl(fd, F_DUPFD_CLOEXEC, restore->first_free);
    int error = errno;

    close(fd);
    return lifted < 0 ? -error : lifted;
}

struct ckpt_file_made *
ckpt_file_find_made(const struct ckpt_file_restore *restore,
                    const struct ckpt_file *file)
{
    for (size_t i = 0; i < restore->made_count; i++) {
        struct ckpt_file_made *made = &restore->made[i];

        if (made->kind == file->kind && made->device == file->device &&
            made->inode == file->inode) {
            return made;
        }
    }
    return NULL;
}

struct ckpt_file_made *ckpt_file_add_made(struct ckpt_file_restore *restore,
                                          const struct ckpt_file *file,
                                          int first, int second)
{
    void *table = realloc(restore->made, (restore->made_count + 1) *
                                             sizeof *restore->made);
    struct ckpt_file_made *made;

    first = ckpt_file_lift(restore, first);
    second = second < 0 ? -1 : ckpt_file_lift(restore, second);
    if (table != NULL) {
        restore->made = (struct ckpt_file_made *)table;
    }
    if (table == NULL || first < 0 || second < -1) {
        close(first);
        close(second);
        return NULL;
    }
    made = &restore->made[restore->made_count++];
    *made = (struct ckpt_file_made){
        file->kind, file->device, file->inode, {first, second}};
    return made;
}

int ckpt_file_given(const struct ckpt_file_restore *restore, uint64_t inode,
                    const char *path)
{
    for (size_t i = 0; i < restore->saved.given_count; i++) {
        const struct ckpt_given_file *given = &restore->saved.given[i];

        if (given->inode == inode && strcmp(given->path, path) == 0) {
            return given->fd;
        }
    }
    return -1;
}

int ckpt_file_open_anew(const struct ckpt_file *file, int fd)
{
    const int never = O_CREAT | O_EXCL | O_TRUNC | O_NOFOLLOW | O_TMPFILE;
    const int flags = (int)file->status_flags & ~never;
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    fd = open(path, flags | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}
