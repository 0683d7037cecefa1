/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * records.h - the records of the sorting programs.
 *
 * A record's whole content follows from its key and origin, so it can be
 * checked anywhere.
 */
#ifndef RECORDS_H
#define RECORDS_H

#include "threaded.h"

struct record {
    uint64_t key;    /* the sort key; some are equal */
    uint64_t origin; /* then by the record's original place */
    unsigned char payload[];
};

struct records {
    unsigned char *memory;
    size_t count;
    size_t size;    /* of each, in bytes */
    uint64_t round; /* other rounds have other records */
};

/* Allocates records without contents, as large as fits into `bytes`. */
struct records allocate_records(size_t count, size_t bytes);

/* Gives the record at `place` its initial contents. */
void make_record(const struct records *records, size_t place);

/* Checks each byte of a record, which may have been moved. */
void check_record(const struct records *records, const struct record *record);

/* Returns the contribution to the answer of a record at `place`. */
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
