/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * excluded.c - a sorted table of page ranges. There are two tables. A change is made in
 * the table that is not in use, so a thread parked in the middle of a change leaves the
 * other table consistent.
 */
#include "user/excluded.h"

#include "base/invariant.h"
#include "base/text.h"

#include <errno.h>
#include <pthread.h>

#define PAGE UINT64_C(4096)

struct table {
    size_t count;
    struct ckpt_range range[CKPT_EXCLUDED_CAPACITY];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct table tables[2];
static int in_use;
static char text[CKPT_EXCLUDED_CAPACITY * sizeof("0123456789abcdef-0123456789abcdef")];

static uint64_t lower(uint64_t first, uint64_t second)
{
    return first < second ? first : second;
}

static uint64_t higher(uint64_t first, uint64_t second)
{
    return first > second ? first : second;
}

static int append(struct table *table, struct ckpt_range range)
{
    if (range.start >= range.end) {
        return 0;
    }
    if (table->count == CKPT_EXCLUDED_CAPACITY) {
        return -ENOSPC;
    }
    CKPT_INVARIANT(range.start % PAGE == 0 && range.end % PAGE == 0);
    CKPT_INVARIANT(table->count == 0 || table->range[table->count - 1].end <= range.start);
    table->range[table->count++] = range;
    return 0;
}

/* Sets `to` to the ranges of `from` and `range`, merged with all ranges that it
 * touches. */
static int unite(struct table *to, const struct table *from, struct ckpt_range range)
{
    size_t i = 0;
    int error = 0;

    for (; i < from->count && from->range[i].end < range.start && error == 0; i++) {
        error = append(to, from->range[i]);
    }
    for (; i < from->count && from->range[i].start <= range.end; i++) {
        range.start = lower(range.start, from->range[i].start);
        range.end = higher(range.end, from->range[i].end);
    }
    error = error == 0 ? append(to, range) : error;
    for (; i < from->count && error == 0; i++) {
        error = append(to, from->range[i]);
    }
    return error;
}

/* Sets `to` to the ranges of `from` without `range`. */
static int subtract(struct table *to, const struct table *from, struct ckpt_range range)
{
    int error = 0;

    for (size_t i = 0; i < from->count && error == 0; i++) {
        const struct ckpt_range old = from->range[i];

        error = append(to, (struct ckpt_range){old.start, lower(old.end, range.start)});
        if (error == 0) {
            error = append(to, (struct ckpt_range){higher(old.start, range.end), old.end});
        }
    }
    return error;
}

static int change(int (*how)(struct table *, const struct table *, struct ckpt_range),
                  struct ckpt_range range)
{
    struct table *next;
    int error;

    if (range.start >= range.end) {
        return 0;
    }
    pthread_mutex_lock(&mutex);
    next = &tables[!in_use];
    next->count = 0;
    error = how(next, &tables[in_use], range);
    if (error == 0) {
        __atomic_store_n(&in_use, !in_use, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&mutex);
    return error;
}

int ckpt_excluded_add(uint64_t start, uint64_t size)
{
    const struct ckpt_range whole = {(start + PAGE - 1) & -PAGE, (start + size) & -PAGE};

    return change(unite, whole);
}

int ckpt_excluded_remove(uint64_t start, uint64_t size)
{
    const struct ckpt_range touched = {start & -PAGE, (start + size + PAGE - 1) & -PAGE};

    return size == 0 ? 0 : change(subtract, touched);
}

size_t ckpt_excluded_ranges(const struct ckpt_range **ranges_p)
{
    const struct table *table = &tables[__atomic_load_n(&in_use, __ATOMIC_ACQUIRE)];

    *ranges_p = table->range;
    return table->count;
}

const char *ckpt_excluded_text(void)
{
    const struct ckpt_range *ranges;
    const size_t count = ckpt_excluded_ranges(&ranges);
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        used += ckpt_text_format(text + used, sizeof(text) - used, "%s%x-%x",
                                 i == 0 ? "" : " ", (unsigned long)ranges[i].start,
                                 (unsigned long)ranges[i].end);
    }
    return text;
}
