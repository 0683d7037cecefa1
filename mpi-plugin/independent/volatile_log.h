/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * volatile_log.h - what a rank logs in memory that outlives it, so that one rank can
 * be replayed alone (Sultan 2004, section 4.4; docs/windows.md, section 4).
 *
 * Each rank has one log, a memory file of the node with two rings of records that only
 * it writes: *writes*, what it did to the memory of targets, for the replay of these;
 * and *events*, what came to it from others, for its own replay.
 *
 * Nothing of an interval counts before the interval is published, with one store: a
 * rank that is killed has done all of it, or nothing. Records are multiples of 8 bytes
 * long and never wrap; positions are bytes that were ever written.
 */
#ifndef CKPT_VOLATILE_LOG_H
#define CKPT_VOLATILE_LOG_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum ckpt_log_kind {
    CKPT_LOGGED_FILLER = 1, /* up to the end of the ring; or given up */
    /* writes */
    CKPT_LOGGED_WRITE, /* bytes for a target's memory; of an accumulate its operands,
                          until it is delivered */
    CKPT_LOGGED_PAGES, /* what a shared window had been stored to: whole pages */
    /* events */
    CKPT_LOGGED_ACQUIRE, /* the vector time after it, where it differs: pairs */
    CKPT_LOGGED_READ,    /* bytes that a get brought */
    CKPT_LOGGED_FETCH,   /* bytes that an atomic operation brought */
    CKPT_LOGGED_ANSWER,  /* one number: what a test said */
    /* a write, too */
    CKPT_LOGGED_PLACED, /* bytes that were in the target's memory before their delivery */
};

struct ckpt_log_record {
    uint32_t size; /* bytes, with this header */
    uint32_t kind; /* enum ckpt_log_kind */
    uint64_t interval; /* that it belongs to; 0: not delivered yet */
    uint64_t order;    /* of the delivery, among all to the piece */
    uint64_t window;   /* id of its communicator */
    int32_t target;    /* piece of the window; of an answer: what it was */
    uint32_t range_count;
    /* writes: struct ckpt_log_range[range_count], then their bytes, one after the
     * other; events: bytes */
};

/* Bytes of a piece of the window's memory. */
struct ckpt_log_range {
    uint64_t start; /* from its base */
    uint64_t bytes;
};

struct ckpt_log_ring {
    uint64_t head; /* position of the oldest record */
    uint64_t tail; /* and behind the newest */
    uint64_t capacity;
    uint64_t reserved;
};

struct ckpt_volatile_log {
    uint64_t published; /* the newest interval that counts */
    uint64_t ever;      /* bytes that have been in the rings, with fillers */
    uint64_t reserved[6];
    struct ckpt_log_ring writes;
    struct ckpt_log_ring events;
    /* the memory of writes, then that of events */
};

static_assert(sizeof(struct ckpt_log_record) == 40, "layout of a log record");
static_assert(sizeof(struct ckpt_volatile_log) == 128, "layout of a log");

/* Bytes of a log whose rings have room for so many each. */
static inline size_t ckpt_log_size(size_t capacity)
{
    return sizeof(struct ckpt_volatile_log) + 2 * capacity;
}

/* A log in zeroed memory. capacity: of a ring, a multiple of 8. */
void ckpt_log_format(struct ckpt_volatile_log *log, uint64_t capacity);

/* The record at a position, which lies between head and tail. */
struct ckpt_log_record *ckpt_log_at(struct ckpt_volatile_log *log,
                                    struct ckpt_log_ring *ring, uint64_t position);

/* The first record that is no filler at a position or behind it; NULL: none. *position
 * becomes its own. What has been trimmed is passed over. */
struct ckpt_log_record *ckpt_log_find(struct ckpt_volatile_log *log,
                                      struct ckpt_log_ring *ring, uint64_t *position);

/* The same in the log of a rank that runs, and may trim it meanwhile: *header is what the
 * record's was. The record itself stays there only if that rank keeps it for this one. */
struct ckpt_log_record *ckpt_log_find_alive(struct ckpt_volatile_log *log,
                                            struct ckpt_log_ring *ring, uint64_t *position,
                                            struct ckpt_log_record *header);

static inline uint64_t ckpt_log_behind(const struct ckpt_log_record *record,
                                       uint64_t position)
{
    return position + record->size;
}

/*
 * Room for a record with `bytes` behind its header, at the end of a ring; it counts with
 * ckpt_log_commit(). NULL: the ring is full.
 */
struct ckpt_log_record *ckpt_log_reserve(struct ckpt_volatile_log *log,
                                         struct ckpt_log_ring *ring, size_t bytes);
void ckpt_log_commit(struct ckpt_volatile_log *log, struct ckpt_log_ring *ring,
                     const struct ckpt_log_record *record);

/* Gives up a record. */
static inline void ckpt_log_drop(struct ckpt_log_record *record)
{
    record->kind = CKPT_LOGGED_FILLER;
}

/* Takes all from a position on off the ring. */
void ckpt_log_cut(struct ckpt_volatile_log *log, struct ckpt_log_ring *ring,
                  uint64_t position);

/* Takes what was given up at the end of the ring, behind `from`, off it. */
void ckpt_log_retract(struct ckpt_volatile_log *log, struct ckpt_log_ring *ring,
                      uint64_t from);

/* Removes records from the front up to a position. An empty ring begins anew at the
 * start of its memory, which is in the cache. */
void ckpt_log_trim(struct ckpt_log_ring *ring, uint64_t position);

/* What a record's header is followed by. */
static inline struct ckpt_log_range *ckpt_log_ranges(struct ckpt_log_record *record)
{
    return (struct ckpt_log_range *)(record + 1);
}

static inline char *ckpt_log_bytes(struct ckpt_log_record *record)
{
    return (char *)(ckpt_log_ranges(record) + record->range_count);
}

#pragma GCC visibility pop

#endif
