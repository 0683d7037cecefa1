/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * listing.c - read a directory that is in the visible tree and in the concealed one.
 *
 * First come the names of the directory that the program has opened, then those of the
 * other one. Each name comes once: a concealed object hides the visible one.
 */
#include "journal/listing.h"

#include "base/text.h"
#include "journal/descriptor.h"
#include "journal/shadow.h"
#include "journal/view.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define LISTING_CAPACITY 64

/* As the kernel writes it. */
struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

/* A descriptor whose own directory has been read to its end. */
struct listing {
    int is_used;
    int fd;
    int64_t offset; /* in the other directory */
};

static struct listing listings[LISTING_CAPACITY];
static struct ckpt_view view;

static struct listing *find(int fd)
{
    for (size_t i = 0; i < LISTING_CAPACITY; i++) {
        if (listings[i].is_used && listings[i].fd == fd) {
            return &listings[i];
        }
    }
    return NULL;
}

static void set_flag(int fd, uint32_t flag)
{
    struct ckpt_descriptor *entry = ckpt_descriptor_entry(fd);

    if (entry != NULL) {
        entry->flags |= flag;
    }
}

/* NULL: too many are open. */
static struct listing *begin_other(int fd)
{
    for (size_t i = 0; i < LISTING_CAPACITY; i++) {
        if (!listings[i].is_used) {
            listings[i] = (struct listing){1, fd, 0};
            set_flag(fd, CKPT_DESCRIPTOR_LISTED);
            return &listings[i];
        }
    }
    return NULL;
}

void ckpt_listing_seek(int fd)
{
    struct listing *listing = find(fd);

    if (listing != NULL) {
        listing->is_used = 0;
    }
}

void ckpt_listing_written(int fd)
{
    set_flag(fd, CKPT_DESCRIPTOR_CONCEALED);
}

void ckpt_listing_closing(int fd)
{
    static char path[CKPT_UNDO_PATH];
    struct ckpt_descriptor *entry = ckpt_descriptor_entry(fd);
    char link[64];
    long length;

    ckpt_listing_seek(fd);
    if (entry == NULL || (entry->flags & CKPT_DESCRIPTOR_CONCEALED) == 0) {
        return;
    }
    ckpt_text_format(link, sizeof(link), "/proc/self/fd/%d", fd);
    length = ckpt_sys_readlink(link, path, sizeof(path) - 1);
    if (length > 0) {
        path[length] = '\0';
        if (!ckpt_text_ends(path, CKPT_TEXT_DELETED)) {
            ckpt_concealed_strip(path);
            ckpt_shadow_produced(path, CKPT_JOURNAL_WAS_WRITTEN);
        }
    }
}

/* Whether the program sees this name of the visible directory there. */
static int shows_visible(const char *name)
{
    static char shadow[CKPT_UNDO_PATH];
    struct stat status;

    ckpt_text_format(shadow, sizeof(shadow), "%s/%s", view.shadow, name);
    return !ckpt_text_starts(name, CKPT_JOURNAL_CONCEALED_PREFIX) &&
           (ckpt_text_equal(name, ".") || ckpt_text_equal(name, "..") ||
            ckpt_syscall3(SYS_lstat, (long)shadow, (long)&status, 0) != 0 ||
            (S_ISDIR(status.st_mode) && ckpt_view_is_merged(shadow)));
}

/* Whether it sees this name of the concealed directory, which has no "." then. */
static int shows_concealed(const char *name)
{
    static char shadow[CKPT_UNDO_PATH];
    struct stat status;

    ckpt_text_format(shadow, sizeof(shadow), "%s/%s", view.shadow, name);
    return !ckpt_text_equal(name, ".") && !ckpt_text_equal(name, "..") &&
           !ckpt_text_equal(name, CKPT_JOURNAL_MERGED) &&
           ckpt_syscall3(SYS_lstat, (long)shadow, (long)&status, 0) == 0 &&
           !ckpt_view_is_gone(shadow, &status) &&
           !(S_ISDIR(status.st_mode) && ckpt_view_is_merged(shadow));
}

/* Leaves only what is to be seen in the buffer, which the kernel has filled. Returns the
 * bytes that are left. */
static long filter(char *buffer, long size, int is_concealed)
{
    long kept = 0;

    for (long at = 0; at < size;) {
        const struct entry *entry = (const struct entry *)(buffer + at);
        const long length = entry->length;

        if (is_concealed ? shows_concealed(entry->name) : shows_visible(entry->name)) {
            memmove(buffer + kept, entry, (size_t)length);
            kept += length;
        }
        at += length;
    }
    return kept;
}

/* Bytes of what is to be seen, 0 at the end, or -errno. */
static long read_filtered(int fd, char *buffer, size_t size, int is_concealed)
{
    long got, kept;

    do {
        got = ckpt_sys_getdents64(fd, buffer, size);
        kept = got > 0 ? filter(buffer, got, is_concealed) : got;
    } while (got > 0 && kept == 0);
    return kept;
}

static long read_other(struct listing *listing, char *buffer, size_t size,
                       int is_concealed)
{
    const int fd = (int)ckpt_sys_open(is_concealed ? view.shadow : view.path,
                                      O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    long got = fd;

    if (fd >= 0) {
        (void)ckpt_sys_lseek(fd, listing->offset, SEEK_SET);
        got = read_filtered(fd, buffer, size, is_concealed);
        listing->offset = ckpt_sys_lseek(fd, 0, SEEK_CUR);
        ckpt_sys_close(fd);
    }
    return got;
}

/* Looks up the directory that is open. *is_concealed: in its place. 1 if it is merged. */
static int is_merged(int fd, int *is_concealed)
{
    static char path[CKPT_UNDO_PATH];
    char link[64];
    long length;

    ckpt_text_format(link, sizeof(link), "/proc/self/fd/%d", fd);
    length = ckpt_sys_readlink(link, path, sizeof(path) - 1);
    if (length <= 0 || path[0] != '/') {
        return 0;
    }
    path[length] = '\0';
    *is_concealed = ckpt_concealed_prefix(path) != 0;
    ckpt_concealed_strip(path);
    return ckpt_view_find(AT_FDCWD, path, 0, &view) == 0 && !view.is_exempt &&
           view.kind == CKPT_VIEW_MERGED && view.shadow[0] != '\0';
}

void ckpt_listing_read(struct ckpt_journal_call *call)
{
    char *buffer = (char *)call->rsi;
    const int fd = (int)call->rdi;
    struct listing *listing = find(fd);
    int is_concealed;
    long got = 0;

    if (!is_merged(fd, &is_concealed)) {
        return;
    }
    if (listing == NULL) {
        got = read_filtered(fd, buffer, (size_t)call->rdx, is_concealed);
        listing = got == 0 ? begin_other(fd) : NULL;
    }
    if (got == 0 && listing != NULL) {
        got = read_other(listing, buffer, (size_t)call->rdx, !is_concealed);
    }
    call->is_done = 1;
    call->result = got;
}
