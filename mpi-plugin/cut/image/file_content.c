/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_content.c - save, and write back, a rank's share of the bytes of files.
 */
#define _GNU_SOURCE /* O_TMPFILE */
#include "cut/image/file_content.h"

#include "base/invariant.h"
#include "base/text.h"
#include "ckpt/journal.h"
#include "handles/files/file.h"
#include "handles/kinds.h"
#include "journal/journal.h"
#include "runtime/runtime.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Size of a block. The ranks of the file's communicator take the blocks in
 * turn. */
#define BLOCK ((uint64_t)8 << 20)

static char buffer[64 * 1024];

/* Finds this rank's next block of a file of `size` bytes; steps through *block =
 * 0, 1, 2 ... Writes its start to *offset. Returns its length, or 0 at the
 * end. */
static uint64_t next_block(MPI_Comm comm, uint64_t size, uint64_t *block,
                           uint64_t *offset)
{
    *offset = (*block * (uint64_t)comm->size + (uint64_t)comm->rank) * BLOCK;
    CKPT_INVARIANT(comm->rank >= 0 && comm->rank < comm->size);
    (*block)++;
    if (*offset >= size) {
        return 0;
    }
    return size - *offset < BLOCK ? size - *offset : BLOCK;
}

static uint64_t share_size(MPI_Comm comm, uint64_t file_size)
{
    uint64_t block = 0, offset, length, total = 0;

    while ((length = next_block(comm, file_size, &block, &offset)) > 0) {
        total += length;
    }
    return total;
}

static int fail(const struct ckpt_open_file *open, const char *what, long error,
                struct ckpt_failure *failure)
{
    if (error == -ENOENT) {
        return ckpt_refuse(failure, CKPT_REFUSAL_MPI_FILE, -ENOENT,
                           "the MPI file %s cannot be %s: no file has that name",
                           open->path, what);
    }
    return ckpt_fail(failure, (int)error,
                     "the MPI file %s cannot be %s: error %l", open->path, what,
                     -error);
}

/* Transfer all of `size` bytes. Return 0 or -errno. */
static long read_all(int fd, char *to, uint64_t size, uint64_t offset)
{
    uint64_t done = 0;

    while (done < size) {
        long result = ckpt_sys_pread(fd, to + done, size - done,
                                     (int64_t)(offset + done));

        if (result == 0) {
            return -ESTALE; /* another process has truncated it */
        }
        if (result < 0 && result != -EINTR) {
            return result;
        }
        done += result > 0 ? (uint64_t)result : 0;
    }
    return 0;
}

static long write_all(int fd, const char *from, uint64_t size, uint64_t offset)
{
    uint64_t done = 0;

    while (done < size) {
        long result = ckpt_sys_pwrite(fd, from + done, size - done,
                                      (int64_t)(offset + done));

        if (result < 0 && result != -EINTR) {
            return result;
        }
        done += result > 0 ? (uint64_t)result : 0;
    }
    return 0;
}

/* An unnamed file in the directory of `path`, or -errno. */
static int open_beside(const char *path)
{
    char directory[PATH_MAX];
    size_t length = ckpt_text_copy(directory, sizeof(directory), path);

    while (length > 1 && directory[length - 1] != '/') {
        length--;
    }
    directory[length] = '\0';
    return (int)ckpt_sys_open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

/* Copies one block to `at` in the unnamed file. The kernel copies it if it can,
 * and may share the blocks on disk. */
static long copy_block(int from, uint64_t offset, int to, uint64_t at,
                       uint64_t length)
{
    int64_t in = (int64_t)offset, out = (int64_t)at;
    long result = 1;

    while (length > 0 && result > 0) {
        result = ckpt_syscall6(SYS_copy_file_range, from, (long)&in, to,
                               (long)&out, (long)length, 0);
        length -= result > 0 ? (uint64_t)result : 0;
    }
    result = 0;
    while (length > 0 && result == 0) {
        uint64_t part = length < sizeof(buffer) ? length : sizeof(buffer);

        result = read_all(from, buffer, part, (uint64_t)in);
        if (result == 0) {
            result = write_all(to, buffer, part, (uint64_t)out);
        }
        in += (int64_t)part;
        out += (int64_t)part;
        length -= part;
    }
    CKPT_INVARIANT(result != 0 || length == 0);
    return result;
}

/* Saves the share as a mapping of an unnamed file. */
static long save_beside(const struct ckpt_open_file *open, int fd,
                        struct ckpt_file_share *share)
{
    uint64_t block = 0, offset, length, done = 0;
    int copy = open_beside(open->path);
    long result = copy < 0 ? copy : 0;

    while (result == 0 && (length = next_block(open->communicator,
                                               share->file_size, &block,
                                               &offset)) > 0) {
        result = copy_block(fd, offset, copy, done, length);
        done += length;
    }
    CKPT_INVARIANT(result != 0 || done == share->size);
    if (result == 0) {
        result = ckpt_sys_mmap(NULL, share->size, PROT_READ, MAP_PRIVATE, copy,
                               0);
        share->bytes = ckpt_sys_failed(result) ? NULL : (void *)result;
        result = share->bytes == NULL ? result : 0;
    }
    if (copy >= 0) {
        (void)ckpt_sys_close(copy);
    }
    return result;
}

/* Saves the share as plain memory. */
static long save_in_memory(const struct ckpt_open_file *open, int fd,
                           struct ckpt_file_share *share)
{
    uint64_t block = 0, offset, length, done = 0;
    long result = ckpt_sys_mmap(NULL, share->size, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (ckpt_sys_failed(result)) {
        return result;
    }
    share->bytes = (void *)result;
    result = 0;
    while (result == 0 && (length = next_block(open->communicator,
                                               share->file_size, &block,
                                               &offset)) > 0) {
        result = read_all(fd, (char *)share->bytes + done, length, offset);
        done += length;
    }
    CKPT_INVARIANT(result != 0 || done == share->size);
    return result;
}

/* Notes the file's size and other metadata. Returns 0 or -errno with a
 * reason. */
static int look_at(struct ckpt_open_file *open, int fd,
                   struct ckpt_failure *failure)
{
    struct ckpt_file_share *share = &open->share;
    struct stat status;
    long result = ckpt_sys_fstat(fd, &status);

    if (result != 0) {
        return fail(open, "saved", result, failure);
    }
    if (status.st_dev != open->device || status.st_ino != open->inode ||
        !S_ISREG(status.st_mode)) {
        return ckpt_refuse(failure, CKPT_REFUSAL_MPI_FILE, -ENOTSUP,
                           "the MPI file %s cannot be saved: it is not a regular file, or another "
                           "one has taken its name",
                           open->path);
    }
    share->file_size = (uint64_t)status.st_size;
    share->mode = status.st_mode & 07777;
    share->size = ckpt_mpi_file_writable(open)
                      ? share_size(open->communicator, share->file_size)
                      : 0;
    return 0;
}

static int save_share(struct ckpt_open_file *open, struct ckpt_failure *failure)
{
    const long fd = ckpt_sys_open(open->path, O_RDONLY | O_CLOEXEC, 0);
    int error;

    if (fd < 0) {
        return fail(open, "saved", fd, failure);
    }
    error = look_at(open, (int)fd, failure);
    if (error == 0 && open->share.size > 0 &&
        save_beside(open, (int)fd, &open->share) != 0) {
        const long result = save_in_memory(open, (int)fd, &open->share);

        error = result == 0 ? 0 : fail(open, "saved", result, failure);
    }
    (void)ckpt_sys_close((int)fd);
    return error;
}

static void release_share(struct ckpt_file_share *share)
{
    if (share->bytes != NULL) {
        (void)ckpt_sys_munmap(share->bytes, share->size);
        share->bytes = NULL;
    }
}

/* Calls `work` for all open files, one after another, until one fails. */
static int for_each(int (*work)(struct ckpt_open_file *, struct ckpt_failure *),
                    struct ckpt_failure *failure)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_FILE);
    int error = 0;

    for (; handle != NULL && error == 0; handle = ckpt_live_next(handle)) {
        error = work(((MPI_File)handle)->open, failure);
    }
    return error;
}

int ckpt_file_content_save(struct ckpt_failure *failure)
{
    ckpt_file_content_release();
    return for_each(save_share, failure);
}

static void mark_share(const struct ckpt_file_share *share, struct ckpt_region *regions,
                       size_t count)
{
    const uint64_t start = (uint64_t)(uintptr_t)share->bytes;

    for (size_t i = 0; i < count && share->bytes != NULL; i++) {
        if (regions[i].kind == CKPT_REGION_FILE && regions[i].start >= start &&
            regions[i].start - start < share->size) {
            CKPT_INVARIANT(regions[i].device == 0); /* the file has no name */
            regions[i].mode = CKPT_REGION_UNCHANGEABLE;
        }
    }
}

void ckpt_file_content_mark(struct ckpt_region *regions, size_t count)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_FILE);

    for (; handle != NULL; handle = ckpt_live_next(handle)) {
        mark_share(&((MPI_File)handle)->open->share, regions, count);
    }
}

void ckpt_file_content_release(void)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_FILE);

    for (; handle != NULL; handle = ckpt_live_next(handle)) {
        release_share(&((MPI_File)handle)->open->share);
    }
}

static int flush(struct ckpt_open_file *open, struct ckpt_failure *failure)
{
    long fd, result = 0;

    if (!ckpt_mpi_file_writable(open)) {
        return 0;
    }
    fd = ckpt_sys_open(open->path, O_RDONLY | O_CLOEXEC, 0);
    if (fd >= 0) {
        result = ckpt_syscall3(SYS_fdatasync, fd, 0, 0);
        (void)ckpt_sys_close((int)fd);
    }
    if (fd < 0 || (result < 0 && result != -EINVAL)) {
        return fail(open, "saved", fd < 0 ? fd : result, failure);
    }
    return 0;
}

int ckpt_file_content_flush(struct ckpt_failure *failure)
{
    return for_each(flush, failure);
}

static int check_reader(const struct ckpt_open_file *open,
                        struct ckpt_failure *failure)
{
    struct stat status;
    long result = ckpt_sys_stat(open->path, &status);

    if (result < 0) {
        return fail(open, "opened again", result, failure);
    }
    if ((uint64_t)status.st_size < open->share.file_size) {
        return ckpt_refuse(failure, CKPT_REFUSAL_CHANGED_FILE, -ESTALE,
                           "the MPI file %s is shorter than at the checkpoint",
                           open->path);
    }
    return 0;
}

static int restore_share(struct ckpt_open_file *open,
                         struct ckpt_failure *failure)
{
    const struct ckpt_file_share *share = &open->share;
    uint64_t block = 0, offset, length, done = 0;
    long fd, result = 0;

    if (!ckpt_mpi_file_writable(open)) {
        return check_reader(open, failure);
    }
    fd = ckpt_sys_open(open->path, O_WRONLY | O_CREAT | O_CLOEXEC,
                       (int)share->mode);
    if (fd < 0) {
        return fail(open, "written again", fd, failure);
    }
    while (result == 0 && share->bytes != NULL &&
           (length = next_block(open->communicator, share->file_size, &block,
                                &offset)) > 0) {
        result = write_all((int)fd, (const char *)share->bytes + done, length,
                           offset);
        done += length;
    }
    CKPT_INVARIANT(result != 0 || share->bytes == NULL || done == share->size);
    (void)ckpt_sys_close((int)fd);
    return result == 0 ? 0 : fail(open, "written again", result, failure);
}

/* The restart has revealed a concealed file, and may have to conceal it
 * again. */
static int settle_path(struct ckpt_open_file *open, struct ckpt_failure *failure)
{
    static char found[PATH_MAX];
    const int error = ckpt_journal_restored_path(
        ckpt_runtime_getenv(CKPT_JOURNAL_VARIABLE), open->path,
        ckpt_mpi_file_writable(open), found);

    if (error != 0) {
        return fail(open, "opened again", error, failure);
    }
    ckpt_text_copy(open->path, ckpt_text_length(open->path) + 1, found);
    return 0;
}

int ckpt_file_content_restore(struct ckpt_failure *failure)
{
    int error = for_each(settle_path, failure);

    if (error == 0) {
        error = for_each(restore_share, failure);
    }
    ckpt_file_content_release();
    return error;
}
