/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watch.c - records the files that the program has read or written.
 */
#include "journal/watch.h"

#include "base/invariant.h"
#include "base/text.h"
#include "journal/log/content_hash.h"
#include "journal/known.h"
#include "journal/log/undo_log.h"
#include "journal/path.h"
#include "journal/streams.h"
#include "sys/syscall.h"

#include <stddef.h>
#include <string.h>

#define FIRST_CAPACITY 1024u /* slots; a power of two */

struct watched {
    const char *path; /* NULL: the slot is free */
    uint64_t hash;
    uint32_t length; /* of path, with the NUL */
    uint32_t is_written;
    uint32_t is_exempt;
    uint32_t is_gone;
};

static struct watched *slots; /* [capacity] */
static size_t capacity, count;

static struct watched *slot_of(uint64_t hash, const char *path)
{
    size_t i = (hash ^ hash >> 32) & (capacity - 1);

    CKPT_INVARIANT((capacity & (capacity - 1)) == 0 && count < capacity); /* the search ends */
    while (slots[i].path != NULL && (slots[i].hash != hash ||
                                     !ckpt_text_equal(slots[i].path, path))) {
        i = (i + 1) & (capacity - 1);
    }
    return &slots[i];
}

/* Grows the table if necessary. Returns 0 if the memory is exhausted. */
static int grow(void)
{
    struct watched *before = slots;
    const size_t former = capacity;

    if (count * 2 < capacity) {
        return 1;
    }
    capacity = former == 0 ? FIRST_CAPACITY : former * 2;
    slots = ckpt_pool_alloc(&ckpt_journal_pool, capacity * sizeof(*slots));
    if (slots == NULL) {
        slots = before;
        capacity = former;
        return 0;
    }
    memset(slots, 0, capacity * sizeof(*slots));
    for (size_t i = 0; i < former; i++) {
        if (before[i].path != NULL) {
            *slot_of(before[i].hash, before[i].path) = before[i];
        }
    }
    ckpt_pool_free(&ckpt_journal_pool, before, former * sizeof(*before));
    return 1;
}

static struct watched *find_or_add(const char *path)
{
    const uint64_t hash = ckpt_text_hash(path);
    struct watched *slot;
    char *copy;

    if (!grow()) {
        return NULL; /* then the restart does not compare the file */
    }
    slot = slot_of(hash, path);
    if (slot->path == NULL) {
        const size_t length = ckpt_text_length(path) + 1;

        if (ckpt_journal_path_is_exempt(path)) {
            return NULL;
        }
        copy = ckpt_pool_alloc(&ckpt_journal_pool, length);
        if (copy == NULL) {
            return NULL;
        }
        memcpy(copy, path, length);
        *slot = (struct watched){
            .path = copy, .hash = hash, .length = (uint32_t)length};
        count++;
    }
    return slot;
}

void ckpt_watch_add(const char *path, int is_written)
{
    struct watched *slot = find_or_add(path);

    if (slot != NULL) {
        slot->is_written |= (uint32_t)is_written;
    }
}

void ckpt_watch_exempt(const char *path)
{
    struct watched *slot = find_or_add(path);

    if (slot != NULL) {
        slot->is_exempt = 1;
    }
}

/* Drops files that no longer exist, such as scratch files of long programs. */
static void rebuild_without_gone(void)
{
    struct watched *before = slots;
    const size_t former = capacity;

    slots = ckpt_pool_alloc(&ckpt_journal_pool, former * sizeof(*slots));
    if (slots == NULL) {
        slots = before;
        return;
    }
    memset(slots, 0, former * sizeof(*slots));
    count = 0;
    for (size_t i = 0; i < former; i++) {
        if (before[i].path != NULL && !before[i].is_gone) {
            *slot_of(before[i].hash, before[i].path) = before[i];
            count++;
        } else if (before[i].path != NULL) {
            ckpt_pool_free(&ckpt_journal_pool, (char *)before[i].path,
                           before[i].length);
        }
    }
    CKPT_INVARIANT(count * 2 <= former);
    ckpt_pool_free(&ckpt_journal_pool, before, former * sizeof(*before));
}

int ckpt_watch_record(void)
{
    struct stat status;
    int gone = 0, error = 0, flushed;

    ckpt_undo_gather();
    ckpt_content_hash_begin();
    for (size_t i = 0; i < capacity && error == 0; i++) {
        struct ckpt_journal_record record = {.type = CKPT_JOURNAL_STATE};

        if (slots[i].path == NULL || slots[i].is_exempt) {
            continue;
        }
        if (ckpt_syscall3(SYS_lstat, (long)slots[i].path, (long)&status, 0) != 0 ||
            !S_ISREG(status.st_mode)) {
            slots[i].is_gone = 1;
            gone = 1;
            continue;
        }
        if (ckpt_journal_is_stream(&status)) {
            continue; /* the stream continues at its present end */
        }
        record.flags = slots[i].is_written ? CKPT_JOURNAL_WRITTEN : 0;
        ckpt_undo_describe(&record, &status);
        ckpt_content_hash_add(&record, slots[i].path, &status);
        error = ckpt_undo_append(&record, slots[i].path, NULL, NULL);
    }
    flushed = ckpt_undo_flush(); /* after an error, too: later records must be written at once */
    error = error == 0 ? flushed : error;
    if (gone && error == 0) {
        rebuild_without_gone();
    }
    return error;
}
