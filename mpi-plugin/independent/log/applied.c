/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * applied.c - the applied records, in the order of their deliveries.
 */
#include "independent/log/applied.h"

#include "base/invariant.h"

#include <stdlib.h>
#include <string.h>

struct applied {
    char *memory;
    struct ckpt_log_record *record;
};

static struct applied *all;
static size_t count, capacity;

static void make_room(void)
{
    if (count == capacity) {
        capacity = capacity == 0 ? 1024 : 2 * capacity;
        struct applied *grown = realloc(all, capacity * sizeof(*grown));

        if (grown == NULL) {
            abort();
        }
        all = grown;
    }
}

/* Copies those bytes of `record` that are within one range of memory. */
static void apply_within(struct ckpt_log_record *record, const struct ckpt_log_range *within,
                         char *memory)
{
    const struct ckpt_log_range *range = ckpt_log_ranges(record);
    const char *bytes = ckpt_log_bytes(record);

    for (uint32_t i = 0; i < record->range_count; i++) {
        const uint64_t end = range[i].start + range[i].bytes;
        const uint64_t within_end = within->start + within->bytes;
        const uint64_t from = range[i].start > within->start ? range[i].start : within->start;
        const uint64_t to = end < within_end ? end : within_end;

        if (from < to) {
            memcpy(memory + from, bytes + (from - range[i].start), to - from);
        }
        bytes += range[i].bytes;
    }
}

static void apply_again(const struct applied *later, struct ckpt_log_record *record)
{
    const struct ckpt_log_range *range = ckpt_log_ranges(record);

    for (uint32_t i = 0; i < record->range_count; i++) {
        apply_within(later->record, &range[i], later->memory);
    }
}

/* Inserts the record by its order; usually it is the last one. */
void ckpt_applied_add(struct ckpt_log_record *record, char *memory)
{
    const struct ckpt_log_range everywhere = {0, INT64_MAX};
    size_t place;

    make_room();
    CKPT_INVARIANT(count < capacity);
    for (place = count; place > 0 && all[place - 1].record->order > record->order; place--) {
        all[place] = all[place - 1];
    }
    all[place] = (struct applied){memory, record};
    count++;
    apply_within(record, &everywhere, memory);
    for (size_t i = place + 1; i < count; i++) {
        if (all[i].memory == memory) {
            apply_again(&all[i], record);
        }
    }
}

void ckpt_applied_forget(void)
{
    free(all);
    all = NULL;
    count = capacity = 0;
}
