/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * records.h - what the sorting programs sort.
 *
 * A record's whole contents follow from its key and origin, so that they can be
 * checked wherever it is.
 */
#ifndef RECORDS_H
#define RECORDS_H

#include "threaded.h"

struct record {
    uint64_t key;    /* by which they are sorted; some are equal, */
    uint64_t origin; /* then by the place where the record was made */
    unsigned char payload[];
};

struct records {
    unsigned char *memory;
    size_t count;
    size_t size;    /* of each, in bytes */
    uint64_t round; /* other rounds have other records */
};

/* As many records, without contents, as large as fits into `bytes`. */
struct records allocate_records(size_t count, size_t bytes);

/* Gives the record at `place` the contents it is to have at first. */
void make_record(const struct records *records, size_t place);

/* Checks each byte of a record, which may have been moved. */
void check_record(const struct records *records, const struct record *record);

/* The share in the answer of a record that has come to `place`. */
uint64_t record_answer(const struct records *records,
                       const struct record *record, size_t place);

static inline struct record *record_at(const struct records *records,
                                       size_t place)
{
    return (struct record *)(records->memory + place * records->size);
}

static inline int is_before(const struct record *a, const struct record *b)
{
    return a->key < b->key || (a->key == b->key && a->origin < b->origin);
}

#endif
