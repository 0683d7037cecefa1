/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * held_output.c - writes standard output into the journal.
 */
#include "journal/held_output.h"

#include "base/invariant.h"
#include "base/text.h"
#include "journal/concealed.h"
#include "journal/log/undo_log.h"
#include "sys/syscall.h"

#include <errno.h>
#include <limits.h>
#include <sys/uio.h>

#define PIECE_SIZE 16384u /* maximum data bytes of a record */

static struct {
    uint64_t device, inode; /* identity of the job's output; 0, 0: none */
    int is_given;           /* at the last mark descriptor 1 was the job's output */
} output;

static void learn(void)
{
    struct stat status;

    if (ckpt_sys_fstat(1, &status) == 0) {
        output.device = status.st_dev;
        output.inode = status.st_ino;
    }
}

void ckpt_held_open(const char *given)
{
    const char *rest;

    if (given == NULL || *given == '\0') {
        learn();
        return;
    }
    rest = ckpt_text_decimal(given, &output.device);
    if (rest == NULL || *rest != ':' ||
        ckpt_text_decimal(rest + 1, &output.inode) == NULL) {
        output.device = output.inode = 0;
    }
}

size_t ckpt_held_name(char *name, size_t capacity)
{
    return ckpt_text_format(name, capacity, "%l:%l", (long)output.device,
                            (long)output.inode);
}

/* Excludes standard error, which may be the same stream but is not held. */
static int is_output(int fd)
{
    struct stat status;

    return output.inode != 0 && fd != 2 && ckpt_sys_fstat(fd, &status) == 0 &&
           status.st_dev == output.device && status.st_ino == output.inode;
}

void ckpt_held_mark(void)
{
    output.is_given = is_output(1);
}

void ckpt_held_resume(void)
{
    if (output.is_given) {
        learn();
    }
}

/* Copies the bytes into the journal. Returns their number, or -errno. */
static long hold(uint64_t address, uint64_t size)
{
    static char piece[PIECE_SIZE];
    uint64_t held = 0;

    while (held < size) {
        struct iovec local = {piece, size - held > PIECE_SIZE ? PIECE_SIZE
                                                              : (size_t)(size - held)};
        struct iovec remote = {(void *)(address + held), local.iov_len};
        /* The program's pointer may be invalid. */
        const long got = ckpt_syscall6(SYS_process_vm_readv, ckpt_sys_getpid(),
                                       (long)&local, 1, (long)&remote, 1, 0);
        struct ckpt_journal_record record = {.type = CKPT_JOURNAL_OUTPUT};
        int error;

        if (got <= 0) {
            return held > 0 ? (long)held : -EFAULT;
        }
        CKPT_INVARIANT(got <= (long)local.iov_len);
        record.data_size = (uint64_t)got;
        error = ckpt_undo_append(&record, NULL, NULL, piece);
        if (error != 0) {
            return held > 0 ? (long)held : error;
        }
        held += (uint64_t)got;
    }
    CKPT_INVARIANT(held == size);
    return (long)held;
}

static long hold_vector(const struct iovec *vector, int64_t count)
{
    long held = 0;

    if (count < 0 || count > IOV_MAX) {
        return -EINVAL;
    }
    for (int64_t i = 0; i < count; i++) {
        struct iovec part;
        struct iovec local = {&part, sizeof(part)};
        struct iovec remote = {(struct iovec *)vector + i, sizeof(part)};
        long result = -EFAULT;

        if (ckpt_syscall6(SYS_process_vm_readv, ckpt_sys_getpid(), (long)&local, 1,
                          (long)&remote, 1, 0) == sizeof(part)) {
            result = hold((uint64_t)part.iov_base, part.iov_len);
        }
        if (result < 0) {
            return held > 0 ? held : result;
        }
        held += result;
        if ((size_t)result < part.iov_len) {
            break;
        }
    }
    return held;
}

void ckpt_held_write(struct ckpt_journal_call *call)
{
    if (!ckpt_concealed_is_on() || !is_output((int)call->rdi)) {
        return;
    }
    call->result = call->site->number == SYS_write
                       ? hold((uint64_t)call->rsi, (uint64_t)call->rdx)
                       : hold_vector((const struct iovec *)call->rsi, call->rdx);
    call->is_done = 1;
}
