/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * listing.c - reads a directory that exists in the visible and in the concealed tree.
 *
 * It reads all names when the program asks for the first ones. Each name appears once: a
 * concealed object hides the visible one.
 */
#include "journal/listing.h"

#include "base/directory.h"
#include "base/invariant.h"
#include "base/text.h"
#include "journal/concealed.h"
#include "journal/descriptor.h"
#include "journal/known.h"
#include "journal/path.h"
#include "journal/shadow.h"
#include "journal/view.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

/* The kernel's format of an entry. */
struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};
_Static_assert(offsetof(struct entry, name) == 19, "layout of the kernel's entry");

/* A directory that the program reads. */
struct listing {
    struct listing *next;
    int fd;
    char *names; /* all entries that the program sees, in the kernel's format; a mapping. NULL:
                    the kernel provides them */
    size_t size, capacity;
    size_t done; /* bytes returned to the program so far */
};

static struct listing *listings;
static struct ckpt_view view;

static struct listing *find(int fd)
{
    struct listing *listing = listings;

    while (listing != NULL && listing->fd != fd) {
        listing = listing->next;
    }
    return listing;
}

static void set_flag(int fd, uint16_t flag)
{
    struct ckpt_descriptor *entry = ckpt_descriptor_entry(fd);

    if (entry != NULL) {
        entry->flags |= flag;
    }
}

/* Records that the program reads this directory. Returns NULL if the memory is exhausted. */
static struct listing *begin(int fd)
{
    struct listing *listing = ckpt_pool_alloc(&ckpt_journal_pool, sizeof(*listing));

    if (listing != NULL) {
        *listing = (struct listing){.next = listings, .fd = fd};
        listings = listing;
        set_flag(fd, CKPT_DESCRIPTOR_LISTED);
    }
    return listing;
}

static void end(struct listing *listing)
{
    struct listing **link = &listings;

    while (*link != listing) {
        if (!CKPT_INVARIANT(*link != NULL)) { /* it is in the list */
            return;
        }
        link = &(*link)->next;
    }
    *link = listing->next;
    if (listing->names != NULL) {
        (void)ckpt_sys_munmap(listing->names, listing->capacity);
    }
    ckpt_pool_free(&ckpt_journal_pool, listing, sizeof(*listing));
}

void ckpt_listing_seek(struct ckpt_journal_call *call)
{
    struct listing *listing = find((int)call->rdi);
    const uint64_t position = (uint64_t)call->rsi;

    if (listing == NULL || call->rdx != SEEK_SET) {
        return;
    }
    if (position == 0 || listing->names == NULL || position > listing->size) {
        end(listing);
        return;
    }
    listing->done = position; /* an offset that an entry of this listing had */
    call->is_done = 1;
    call->result = (int64_t)position;
}

void ckpt_listing_written(int fd)
{
    set_flag(fd, CKPT_DESCRIPTOR_CONCEALED);
}

void ckpt_listing_closing(int fd)
{
    static char path[CKPT_UNDO_PATH];
    struct ckpt_descriptor *entry = ckpt_descriptor_entry(fd);

    if (find(fd) != NULL) {
        end(find(fd));
    }
    if (entry == NULL || (entry->flags & CKPT_DESCRIPTOR_CONCEALED) == 0) {
        return;
    }
    if (ckpt_journal_descriptor_link(fd, path) > 0 &&
        !ckpt_text_ends(path, CKPT_TEXT_DELETED)) {
        ckpt_concealed_strip(path);
        ckpt_shadow_produced(path, CKPT_JOURNAL_WAS_WRITTEN, NULL);
    }
}

/* Records a concealed file that the program may still write through this descriptor. */
static int tell_open(const struct ckpt_directory_entry *entry, void *argument)
{
    static char path[CKPT_UNDO_PATH];
    uint64_t fd = 0;
    long flags;

    (void)argument;
    if (ckpt_text_decimal(entry->name, &fd) == NULL) {
        return 0; /* "." and ".." */
    }
    flags = ckpt_sys_fcntl((int)fd, F_GETFL, 0);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY ||
        ckpt_journal_descriptor_link((int)fd, path) <= 0 || ckpt_concealed_prefix(path) == 0 ||
        ckpt_text_ends(path, CKPT_TEXT_DELETED)) {
        return 0;
    }
    ckpt_concealed_strip(path);
    ckpt_shadow_produced(path, CKPT_JOURNAL_WAS_OPENED, NULL);
    return 0;
}

int ckpt_listing_mark(void)
{
    return ckpt_concealed_is_on() ? ckpt_directory_each("/proc/self/fd", tell_open, NULL) : 0;
}

/* Returns 1 if the program sees this name of the visible directory. */
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

/* Returns 1 if the program sees this name of the concealed directory of a merged one. */
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

/* Makes room for `size` more bytes. Returns 0 or -errno. */
static int provide_room(struct listing *listing, size_t size)
{
    size_t capacity = listing->capacity == 0 ? 1u << 16 : listing->capacity;
    long memory;

    while (capacity - listing->size < size) {
        capacity *= 2;
    }
    if (capacity == listing->capacity) {
        return 0;
    }
    memory = listing->names == NULL
                 ? ckpt_sys_mmap(NULL, capacity, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                 : ckpt_syscall6(SYS_mremap, (long)listing->names,
                                 (long)listing->capacity, (long)capacity,
                                 MREMAP_MAYMOVE, 0, 0);
    if (ckpt_sys_failed(memory)) {
        return (int)memory;
    }
    listing->names = (char *)memory;
    listing->capacity = capacity;
    return 0;
}

/* Returns 1 if the program sees this name of a directory. */
typedef int filter(const char *name);

static int shows_all(const char *name)
{
    (void)name;
    return 1;
}

/* Adds the entries that the program sees. Returns 0 or -errno. */
static int add(struct listing *listing, const char *entries, long size, filter *shows)
{
    int error = provide_room(listing, (size_t)size);

    for (long at = 0; at < size && error == 0;) {
        const struct entry *entry = (const struct entry *)(entries + at);

        if (!CKPT_INVARIANT(entry->length > offsetof(struct entry, name) &&
                            entry->length <= size - at)) {
            return -EPROTO;
        }
        if (shows(entry->name)) {
            struct entry *added = (struct entry *)(listing->names + listing->size);

            CKPT_INVARIANT(listing->size + entry->length <= listing->capacity);
            memcpy(added, entry, entry->length);
            listing->size += entry->length;
            added->offset = (int64_t)listing->size;
        }
        at += entry->length;
    }
    return error;
}

/* Reads the names of one directory. Returns 0 or -errno. */
static int read_names(struct listing *listing, const char *path, filter *shows)
{
    static char entries[16384];
    const int fd = (int)ckpt_sys_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    long got = fd;
    int error = 0;

    if (fd < 0) {
        return fd;
    }
    while (error == 0 &&
           (got = ckpt_sys_getdents64(fd, entries, sizeof(entries))) > 0) {
        error = add(listing, entries, got, shows);
    }
    ckpt_sys_close(fd);
    return error != 0 ? error : (int)got;
}

/* Reads all names at once, since revealed objects move from one directory to the other
 * meanwhile. */
static int read_all(struct listing *listing)
{
    int error;

    if (view.kind == CKPT_VIEW_CONCEALED) {
        return read_names(listing, view.shadow, shows_all);
    }
    error = read_names(listing, view.path, shows_visible);
    return error != 0 ? error : read_names(listing, view.shadow, shows_concealed);
}

/* Copies entries to the program. Returns their bytes, 0 at the end, -EINVAL if not even one
 * fits, or another -errno. */
static long give(struct listing *listing, const struct ckpt_journal_call *call)
{
    const uint64_t capacity = (uint64_t)call->rdx;
    size_t size = 0;

    while (listing->done + size < listing->size) {
        const struct entry *entry =
            (const struct entry *)(listing->names + listing->done + size);

        if (size + entry->length > capacity) {
            break;
        }
        size += entry->length;
    }
    if (size == 0 && listing->done < listing->size) {
        return -EINVAL;
    }
    if (size > 0) { /* the program's pointer may be invalid */
        struct iovec local = {listing->names + listing->done, size};
        struct iovec remote = {(void *)call->rsi, size};

        if (ckpt_syscall6(SYS_process_vm_writev, ckpt_sys_getpid(), (long)&local, 1,
                          (long)&remote, 1, 0) != (long)size) {
            return -EFAULT;
        }
    }
    CKPT_INVARIANT(listing->done + size <= listing->size);
    listing->done += size;
    return (long)size;
}

/* Looks the open directory up. Returns 1 if it contains concealed names. */
static int is_concealed_directory(int fd)
{
    static char path[CKPT_UNDO_PATH];

    if (ckpt_journal_descriptor_link(fd, path) <= 0 || path[0] != '/') {
        return 0;
    }
    ckpt_concealed_strip(path);
    return ckpt_view_find(AT_FDCWD, path, 0, &view) == 0 && !view.is_exempt &&
           (view.kind == CKPT_VIEW_MERGED || view.kind == CKPT_VIEW_CONCEALED) &&
           view.shadow[0] != '\0';
}

void ckpt_listing_read(struct ckpt_journal_call *call)
{
    const int fd = (int)call->rdi;
    struct listing *listing = find(fd);
    int error = 0;

    if (listing == NULL) {
        const int is_concealed = is_concealed_directory(fd);

        listing = begin(fd);
        if (listing == NULL) {
            call->is_done = is_concealed;
            call->result = -ENOMEM;
            return;
        }
        if (is_concealed) {
            error = read_all(listing);
        }
    }
    if (error != 0) {
        end(listing);
    } else if (listing->names == NULL) {
        return; /* the kernel continues the listing */
    }
    call->is_done = 1;
    call->result = error != 0 ? error : give(listing, call);
}
