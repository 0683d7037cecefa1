/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * content.c - records the content and the attributes of files before they change.
 *
 * For a file that grows the record has only the old size. Overwritten bytes are copied into the
 * log, in whole blocks, each once. A file that is truncated to nothing is kept whole.
 */
#include "journal/content.h"

#include "base/invariant.h"
#include "base/text.h"
#include "journal/descriptor.h"
#include "journal/call.h"
#include "journal/log/keep.h"
#include "journal/known.h"
#include "journal/path.h"
#include "journal/log/record_locks.h"
#include "journal/streams.h"
#include "journal/log/undo_log.h"
#include "journal/watch.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>

#define PIECE_SIZE (1u << 17)  /* maximum data bytes of a record */
#define SMALL_SIZE (64u << 10) /* up to this size a copy costs no more than a link */
_Static_assert(PIECE_SIZE % CKPT_KNOWN_BLOCK == 0, "a record has whole blocks");

/* A file that is about to change. */
struct subject {
    struct stat status;
    const char *path;
    struct ckpt_known_inode *known;
};

/* Where to read the file: the program's descriptor, or a path to open. */
struct source {
    int fd; /* -1: none */
    const char *path;
};

static char descriptor_path[CKPT_UNDO_PATH];

static void lose(const struct subject *subject, int error)
{
    ckpt_undo_lost(subject->path, error);
}

static void set_descriptor(int fd, uint16_t kind, uint64_t size)
{
    struct ckpt_descriptor *entry = ckpt_descriptor_entry(fd);

    if (entry != NULL) {
        entry->size = size;
        entry->generation = (uint32_t)ckpt_journal_generation;
        entry->kind = kind;
    }
}

/* Returns 1, once, if this process has created the file, so that all its content is new. */
static int is_created_here(const char *path)
{
    struct ckpt_known_name *name = ckpt_known_name_find(path);
    const int is_created = name != NULL && name->created;

    if (is_created) {
        name->created = 0;
    }
    return is_created;
}

/* Looks the file up. Returns 0 if there is nothing to record. */
static int examine(struct subject *subject)
{
    struct ckpt_known_inode *known = ckpt_known_inode_find(
        subject->status.st_dev, subject->status.st_ino);

    subject->known = NULL;
    if (known == NULL) {
        known = ckpt_known_inode_add(subject->status.st_dev,
                                     subject->status.st_ino);
        if (known == NULL) {
            lose(subject, -ENOMEM);
            return 0;
        }
        known->size = (uint64_t)subject->status.st_size;
        known->flags = is_created_here(subject->path)
                           ? CKPT_INODE_WHOLE | CKPT_INODE_NEW
                           : 0;
    }
    subject->known = known;
    return (known->flags & CKPT_INODE_WHOLE) == 0;
}

/* Does the same for an open file. Returns 0 also if the file has no name. */
static int examine_descriptor(int fd, struct subject *subject)
{
    if (ckpt_sys_fstat(fd, &subject->status) != 0) {
        return 0; /* the call will fail */
    }
    if (!S_ISREG(subject->status.st_mode) ||
        ckpt_journal_is_stream(&subject->status)) {
        set_descriptor(fd, CKPT_DESCRIPTOR_OTHER, 0);
        return 0;
    }
    subject->path = descriptor_path;
    if (ckpt_journal_descriptor_path(fd, descriptor_path) != 0 &&
        subject->status.st_nlink == 0) { /* the image has the content of an unnamed file */
        set_descriptor(fd, CKPT_DESCRIPTOR_FREE, 0);
        return 0;
    }
    if (ckpt_journal_path_is_exempt(descriptor_path)) {
        set_descriptor(fd, CKPT_DESCRIPTOR_OTHER, 0);
        return 0;
    }
    if (!examine(subject)) {
        set_descriptor(fd, CKPT_DESCRIPTOR_FREE, 0);
        return 0;
    }
    return 1;
}

static void record(const struct subject *subject, enum ckpt_journal_type type,
                   const char *other)
{
    struct ckpt_journal_record record = {.type = type};
    int error;

    ckpt_undo_describe(&record, &subject->status);
    error = ckpt_undo_append(&record, subject->path, other, NULL);
    if (error != 0) {
        lose(subject, error);
    }
}

static void record_size(const struct subject *subject)
{
    if ((subject->known->flags & CKPT_INODE_SIZED) == 0) {
        record(subject, CKPT_JOURNAL_SIZE, NULL);
        subject->known->flags |= CKPT_INODE_SIZED;
    }
}

/* A range of bytes to read. */
struct piece {
    const struct source *source;
    char *data;
    uint64_t start, size; /* requested range */
    uint64_t done;        /* bytes read; fewer if another process has truncated the file */
};

/* Reads through `fd`. Returns 0 or -errno. */
static int read_from(int fd, struct piece *piece)
{
    while (piece->done < piece->size) {
        const long got =
            ckpt_sys_pread(fd, piece->data + piece->done, piece->size - piece->done,
                           (int64_t)(piece->start + piece->done));

        if (got == 0) {
            break;
        }
        if (got < 0 && got != -EINTR) {
            return (int)got;
        }
        piece->done += got > 0 ? (uint64_t)got : 0;
    }
    CKPT_INVARIANT(piece->done <= piece->size);
    return 0;
}

/* Opens and reads the file of a struct piece. Returns 0 or -errno. */
static int open_and_read(void *argument)
{
    struct piece *piece = argument;
    const int fd = (int)ckpt_sys_open(piece->source->path,
                                      O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    int error;

    if (fd < 0) {
        return fd;
    }
    error = read_from(fd, piece);
    ckpt_sys_close(fd);
    return error;
}

/* Copies a range of the file into the log. Returns 0 or -errno. */
static int record_piece(const struct subject *subject, const struct source *source,
                        uint64_t start, uint64_t size)
{
    static char data[PIECE_SIZE];
    struct piece piece = {source, data, start, size, 0};
    struct ckpt_journal_record record = {.type = CKPT_JOURNAL_DATA,
                                         .offset = start};
    const int error = source->fd >= 0
                          ? read_from(source->fd, &piece)
                          : ckpt_record_locks_spare(open_and_read, &piece);

    if (error != 0 || piece.done == 0) {
        return error; /* another process has truncated the file and recorded that */
    }
    ckpt_undo_describe(&record, &subject->status);
    record.size = subject->known->size;
    record.data_size = piece.done;
    return ckpt_undo_append(&record, subject->path, NULL, data);
}

/* Returns the first block from `block` on whose saved state is `is_saved`; at most `end`. */
static uint64_t find_block(const struct ckpt_known_inode *known, uint64_t block,
                           uint64_t end, int is_saved)
{
    while (block < end &&
           (ckpt_known_block_is_saved(known, block) != 0) != is_saved) {
        block++;
    }
    return block;
}

/* Records the blocks of [first, last) that are not recorded yet. Returns 0 or -errno. */
static int record_blocks(const struct subject *subject, const struct source *source,
                         uint64_t first, uint64_t last)
{
    const uint64_t most = PIECE_SIZE / CKPT_KNOWN_BLOCK;
    uint64_t start, size;
    int error = 0;

    while (error == 0 && (first = find_block(subject->known, first, last, 0)) <
                             last) {
        uint64_t end = find_block(subject->known, first, last, 1);

        end = end - first > most ? first + most : end;
        start = first * CKPT_KNOWN_BLOCK;
        size = (end - first) * CKPT_KNOWN_BLOCK;
        CKPT_INVARIANT(start < subject->known->size); /* blocks beyond the old end are new */
        if (size > subject->known->size - start) {
            size = subject->known->size - start; /* the rest is new */
        }
        CKPT_INVARIANT(size > 0 && size <= PIECE_SIZE);
        error = record_piece(subject, source, start, size);
        for (; error == 0 && first < end; first++) {
            error = ckpt_known_block_save(subject->known, first);
        }
    }
    return error;
}

/* Returns the source for an open file: its descriptor, unless that is write-only or needs
 * aligned buffers. The source is valid until the next call. */
static struct source source_of(int fd)
{
    static char link[64];
    const long flags = ckpt_sys_fcntl(fd, F_GETFL, 0);

    if (flags >= 0 && (flags & O_ACCMODE) == O_RDWR && (flags & O_DIRECT) == 0) {
        return (struct source){.fd = fd};
    }
    ckpt_text_format(link, sizeof(link), "/proc/self/fd/%d", fd);
    return (struct source){.fd = -1, .path = link};
}

/* Records bytes [start, end), which will change; bytes beyond the file's old size are ignored.
 * fd: an open descriptor of the file, or -1. */
static void record_range(const struct subject *subject, int fd, uint64_t start,
                         uint64_t end)
{
    const uint64_t size = subject->known->size;
    uint64_t first = start / CKPT_KNOWN_BLOCK, last;
    struct source source = {.fd = -1, .path = subject->path};
    int error;

    record_size(subject);
    end = end > size ? size : end;
    if (start >= end) {
        return;
    }
    last = (end + CKPT_KNOWN_BLOCK - 1) / CKPT_KNOWN_BLOCK;
    if (find_block(subject->known, first, last, 0) == last) {
        return;
    }
    if (fd >= 0) {
        source = source_of(fd);
    }
    error = record_blocks(subject, &source, first, last);
    if (error != 0) {
        lose(subject, error);
    }
}

void ckpt_content_before_write(int fd, uint64_t start, uint64_t end)
{
    struct subject subject;

    if (examine_descriptor(fd, &subject)) {
        record_range(&subject, fd, start, end);
    }
}

void ckpt_content_before_write_here(int fd, uint64_t size)
{
    const long flags = ckpt_sys_fcntl(fd, F_GETFL, 0);
    struct subject subject;
    uint64_t start;
    long position;

    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY ||
        !examine_descriptor(fd, &subject)) {
        return;
    }
    position = (flags & O_APPEND) != 0 ? (long)subject.status.st_size
                                       : ckpt_sys_lseek(fd, 0, SEEK_CUR);
    start = position < 0 ? 0 : (uint64_t)position;
    record_range(&subject, fd, start, start + size);
    if (start >= subject.known->size) {
        set_descriptor(fd, CKPT_DESCRIPTOR_BEHIND, subject.known->size);
    }
}

/* Keeps a copy of the file's present content. */
static void keep_copy(struct subject *subject)
{
    static char kept[CKPT_UNDO_PATH];
    const int error =
        ckpt_keep_content(subject->path, &subject->status, kept);

    if (error != 0) {
        lose(subject, error);
        return;
    }
    record(subject, CKPT_JOURNAL_CONTENT, kept);
    subject->known->flags |= CKPT_INODE_WHOLE | CKPT_INODE_SIZED;
}

/* Keeps the whole file: by giving the program a new inode, or as a copy. */
static void keep_whole(struct subject *subject)
{
    static char kept[CKPT_UNDO_PATH];
    struct stat empty;

    if (ckpt_keep_to_replace(subject->path, &subject->status, kept, &empty)) {
        record(subject, CKPT_JOURNAL_FILE, kept);
        (void)ckpt_known_name_add(subject->path);
        if (ckpt_keep_replace(subject->path) == 0) {
            struct ckpt_known_inode *known =
                ckpt_known_inode_add(empty.st_dev, empty.st_ino);

            if (known != NULL) {
                known->flags = CKPT_INODE_WHOLE | CKPT_INODE_NEW;
            }
            return;
        }
    }
    keep_copy(subject);
}

void ckpt_content_before_rewriting(const char *path, const struct stat *status)
{
    struct subject subject = {.status = *status, .path = path};

    if (!ckpt_journal_path_is_exempt(path) && examine(&subject)) {
        keep_copy(&subject);
    }
}

void ckpt_content_mapped(int fd, uint64_t start, uint64_t end)
{
    ckpt_content_before_write(fd, start, end);
    if (ckpt_journal_descriptor_path(fd, descriptor_path) == 0) {
        ckpt_watch_exempt(descriptor_path);
    }
}

void ckpt_content_before_cut(int fd, uint64_t size)
{
    struct subject subject;

    if (!examine_descriptor(fd, &subject)) {
        return;
    }
    if (subject.known->size > size &&
        subject.known->size - size > SMALL_SIZE) {
        keep_copy(&subject);
        return;
    }
    record_range(&subject, fd, size, CKPT_TO_THE_END);
}

void ckpt_content_before_cut_path(const char *path, const struct stat *status,
                                  uint64_t size)
{
    struct subject subject = {.status = *status, .path = path};

    if (ckpt_journal_path_is_exempt(path) || !examine(&subject)) {
        return;
    }
    if (size == 0 && subject.known->size > SMALL_SIZE) {
        keep_whole(&subject);
        return;
    }
    record_range(&subject, -1, size, CKPT_TO_THE_END);
}

static void record_attributes(struct subject *subject)
{
    struct ckpt_known_inode *known;

    if (!S_ISREG(subject->status.st_mode)) {
        record(subject, CKPT_JOURNAL_ATTRIBUTES, NULL);
        return;
    }
    (void)examine(subject);
    known = subject->known;
    if (known != NULL &&
        (known->flags & (CKPT_INODE_ATTRIBUTES | CKPT_INODE_NEW)) == 0) {
        record(subject, CKPT_JOURNAL_ATTRIBUTES, NULL);
        known->flags |= CKPT_INODE_ATTRIBUTES;
    }
}

void ckpt_content_before_attributes(const char *path, const struct stat *status)
{
    struct subject subject = {.status = *status, .path = path};

    if (!ckpt_journal_path_is_exempt(path)) {
        record_attributes(&subject);
    }
}

void ckpt_content_before_attributes_of(int fd)
{
    struct stat status;

    if (ckpt_sys_fstat(fd, &status) == 0 &&
        ckpt_journal_descriptor_path(fd, descriptor_path) == 0) {
        ckpt_content_before_attributes(descriptor_path, &status);
    }
}
