/* SPDX-License-Identifier: BSD-3-Clause */
/* records.c - makes the records of the sorting programs, and checks them. */
#include "records.h"

#define KEY_BITS 20 /* few enough for some keys to be equal */

struct records allocate_records(size_t count, size_t bytes)
{
    struct records records = {.count = count};

    CHECK(count > 0);
    records.size = bytes / count / sizeof(uint64_t) * sizeof(uint64_t);
    CHECK(records.size >= sizeof(struct record));
    records.memory = allocate(count * records.size);
    return records;
}

static uint64_t key_of(const struct records *records, uint64_t origin)
{
    return mix4(records->round, origin, 0, 1) >> (64 - KEY_BITS);
}

static size_t payload_size(const struct records *records)
{
    return records->size - sizeof(struct record);
}

static uint64_t payload_key(const struct records *records,
                            const struct record *record)
{
    return mix4(records->round, record->origin, record->key, 2);
}

void make_record(const struct records *records, size_t place)
{
    struct record *record = record_at(records, place);

    record->key = key_of(records, place);
    record->origin = place;
    fill(record->payload, payload_size(records), payload_key(records, record));
}

void check_record(const struct records *records, const struct record *record)
{
    CHECK(record->origin < records->count);
    CHECK(record->key == key_of(records, record->origin));
    CHECK(is_filled(record->payload, payload_size(records),
                    payload_key(records, record)));
}

uint64_t record_answer(const struct records *records,
                       const struct record *record, size_t place)
{
    return mix4(payload_key(records, record), place, 0, 3);
}
