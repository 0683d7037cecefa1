/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_file.c - write logged messages to a file; load them at a restart.
 */
#include "cut/messages/log_file.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "ckpt/wire.h"
#include "handles/kinds.h"
#include "sys/descriptor.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

_Static_assert(sizeof(struct ckpt_logged_message) % 8 == 0, "entries stay aligned");
#define PADDING(size) (-(size)&7u)

static struct {
    int fd;
    int error; /* the first one: -errno, or 0 */
    uint64_t position;
    uint64_t messages;
    uint64_t bytes;
} file = {.fd = -1};

/* Messages of a restart's log that each belong to one receive. */
static struct ckpt_log_entry *bound;

int ckpt_log_file_descriptor(void)
{
    return file.fd;
}

void ckpt_log_file_forget(void)
{
    file.fd = -1;
}

int ckpt_log_file_open(const char *path, struct ckpt_failure *failure)
{
    long fd = ckpt_sys_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    file.position = file.messages = file.bytes = 0;
    file.error = fd < 0 ? (int)fd : 0;
    file.fd = ckpt_descriptor_raise((int)fd);
    return fd >= 0 ? 0
                   : ckpt_refuse(failure, CKPT_REFUSAL_WRITE_FAILED, (int)fd,
                                 "cannot make %s: error %d", path,
                                 (int)-fd);
}

/* A write beyond the application's own limit would end the application by
 * SIGXFSZ. */
static int is_within_limit(size_t size)
{
    struct rlimit limit;

    return ckpt_syscall4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit) != 0 ||
           limit.rlim_cur == RLIM_INFINITY ||
           file.position + size <= limit.rlim_cur;
}

static void append(const void *data, size_t size)
{
    const char *from = data;

    if (file.error == 0 && !is_within_limit(size)) {
        file.error = -EFBIG;
    }
    while (size > 0 && file.error == 0) {
        long written = ckpt_sys_write(file.fd, from, size);

        if (written > 0) {
            from += written;
            size -= (size_t)written;
            file.position += (uint64_t)written;
        } else if (written != -EINTR) {
            file.error = written == 0 ? -ENOSPC : (int)written;
        }
    }
}

void ckpt_log_file_write(MPI_Comm comm, const struct ckpt_log_entry *entry,
                         const void *request)
{
    static const char zeros[8];
    struct ckpt_logged_message header = {
        .magic = CKPT_LOGGED_MAGIC,
        .source = entry->source,
        .tag = entry->tag,
        .communicator = comm->id,
        .order = entry->order,
        .request = (uint64_t)(uintptr_t)request,
        .size = entry->size,
    };

    append(&header, sizeof(header));
    append(entry->data, entry->size);
    append(zeros, PADDING(entry->size));
    CKPT_INVARIANT(file.error != 0 || file.position % 8 == 0);
    file.messages++;
    file.bytes += entry->size;
}

void ckpt_log_file_fail(int error)
{
    file.error = file.error == 0 ? error : file.error;
}

int ckpt_log_file_close(uint64_t *messages_p, uint64_t *bytes_p,
                        struct ckpt_failure *failure)
{
    if (file.fd >= 0) {
        ckpt_sys_close(file.fd);
        file.fd = -1;
    }
    *messages_p = file.messages;
    *bytes_p = file.bytes;
    return file.error == 0 ? 0
                           : ckpt_refuse(failure, CKPT_REFUSAL_WRITE_FAILED, file.error,
                                         "the message log is not complete: error %d",
                                         -file.error);
}

/* ---- Restart -------------------------------------------------------------- */

static MPI_Comm find_communicator(uint64_t id)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_COMM);

    if (id == MPI_COMM_WORLD->id) {
        return MPI_COMM_WORLD;
    }
    if (id == MPI_COMM_SELF->id) {
        return MPI_COMM_SELF;
    }
    while (handle != NULL && ((MPI_Comm)handle)->id != id) {
        handle = ckpt_live_next(handle);
    }
    return (MPI_Comm)handle;
}

static struct ckpt_log_entry *copy_of(const struct ckpt_logged_message *logged)
{
    struct ckpt_log_entry *entry = ckpt_log_entry_new(
        logged->source, logged->tag, (size_t)logged->size);

    if (entry != NULL) {
        entry->order = logged->order;
        entry->request = (const void *)(uintptr_t)logged->request;
        memcpy(entry->data, logged + 1, (size_t)logged->size);
    }
    return entry;
}

static int load_one(const struct ckpt_logged_message *logged,
                    struct ckpt_failure *failure)
{
    MPI_Comm comm = find_communicator(logged->communicator);
    struct ckpt_log_entry *entry;

    if (comm == NULL || logged->source < 0 || logged->source >= comm->peers) {
        return ckpt_refuse(failure, CKPT_REFUSAL_UNUSABLE_CHECKPOINT, -EBADMSG,
                           "the message log names a communicator or rank that is "
                           "not there");
    }
    entry = copy_of(logged);
    if (entry == NULL) {
        return ckpt_fail(failure, -ENOMEM, "no memory for the message log");
    }
    comm->received[entry->source]++;
    if (entry->request == NULL) {
        ckpt_log_insert(comm, entry);
    } else {
        entry->next = bound;
        bound = entry;
    }
    return 0;
}

int ckpt_log_load(const void *log, uint64_t size, struct ckpt_failure *failure)
{
    const char *at = log, *end = at + size;
    int error = 0;

    while (at < end && error == 0) {
        const struct ckpt_logged_message *logged =
            (const struct ckpt_logged_message *)at;
        const uint64_t left = (uint64_t)(end - at);

        if (left < sizeof(*logged) || logged->magic != CKPT_LOGGED_MAGIC ||
            logged->size > left - sizeof(*logged)) {
            return ckpt_refuse(failure, CKPT_REFUSAL_UNUSABLE_CHECKPOINT, -EBADMSG,
                               "the message log is damaged");
        }
        error = load_one(logged, failure);
        at += sizeof(*logged) + logged->size + PADDING(logged->size);
    }
    return error;
}

struct ckpt_log_entry *ckpt_log_bound(const void *request)
{
    struct ckpt_log_entry **link = &bound, *entry;

    while (*link != NULL && (*link)->request != request) {
        link = &(*link)->next;
    }
    entry = *link;
    if (entry != NULL) {
        *link = entry->next;
        entry->next = NULL;
    }
    return entry;
}
