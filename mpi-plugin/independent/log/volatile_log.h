/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * volatile_log.h - a rank's log in memory that outlives the rank, so that one rank can be
 * replayed alone (Sultan 2004, section 4.4; docs/windows.md, section 4).
 *
 * Each rank has one log, a memory file of the node with two rings of records that only
 * this rank writes. *writes* has its changes to the memory of targets, for the replay of
 * the targets. *events* has what it received from others, for its own replay.
 *
 * Records of an interval count only when the interval is published, with one store: a
 * killed rank has done all of it, or nothing. Records are multiples of 8 bytes long and
 * never wrap. Positions count the bytes that were ever written.
 */
#ifndef CKPT_VOLATILE_LOG_H
#define CKPT_VOLATILE_LOG_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum ckpt_log_kind {
    CKPT_LOGGED_FILLER = 1, /* up to the end of the ring; or a dropped record */
    /* writes */
    CKPT_LOGGED_WRITE, /* bytes for a target's memory; for an accumulate, operands until
                          its delivery */
    CKPT_LOGGED_PAGES, /* whole pages of a shared window that were stored to */
    /* events */
    CKPT_LOGGED_ACQUIRE, /* (rank, interval) pairs of the vector time that changed */
    CKPT_LOGGED_READ,    /* bytes that a get returned */
    CKPT_LOGGED_FETCH,   /* bytes that an atomic operation returned */
    CKPT_LOGGED_ANSWER,  /* one number: the result of a test */
    /* another write */
    CKPT_LOGGED_PLACED, /* bytes placed in the target's memory before their delivery */
};

struct ckpt_log_record {
    uint32_t size;     /* bytes, including this header */
    uint32_t kind;     /* enum ckpt_log_kind */
    uint64_t interval; /* its interval; 0: not delivered yet */
    uint64_t order;    /* number of the delivery among all to the piece */
    uint64_t window;   /* id of its communicator */
    int32_t target;    /* piece of the window; of an answer: its value */
    uint32_t range_count;
    /* writes: struct ckpt_log_range[range_count], then their bytes in the same order;
     * events: bytes */
};

/* A range of bytes in a piece of the window's memory. */
struct ckpt_log_range {
    uint64_t start; /* from its base */
    uint64_t bytes;
};

struct ckpt_log_ring {
    uint64_t head; /* position of the oldest record */
    uint64_t tail; /* position after the newest record */
    uint64_t capacity;
    uint64_t reserved;
};

struct ckpt_volatile_log {
    uint64_t published; /* the newest interval that counts */
    uint64_t ever;      /* bytes that have been in the rings, with fillers */
    uint64_t reserved[6];
    struct ckpt_log_ring writes;
    struct ckpt_log_ring events;
    /* the memory of writes, then the memory of events */
};

static_assert(sizeof(struct ckpt_log_record) == 40, "layout of a log record");
static_assert(sizeof(struct ckpt_volatile_log) == 128, "layout of a log");
static_assert(offsetof(struct ckpt_volatile_log, writes) == 64 &&
                  offsetof(struct ckpt_volatile_log, events) == 96,
              "layout of a log");
static_assert(sizeof(struct ckpt_log_range) == 16, "layout of a range");

/* Bytes of a log whose rings have `capacity` bytes each. */
static inline size_t ckpt_log_size(size_t capacity)
{
    return sizeof(struct ckpt_volatile_log) + 2 * capacity;
}

/* Makes a log in zeroed memory. capacity: of a ring, a multiple of 8. */
void ckpt_log_format(struct ckpt_volatile_log *log, uint64_t capacity);

/* Returns the record at a position, which is between head and tail. */
struct ckpt_log_record *ckpt_log_at(struct ckpt_volatile_log *log,
                                    struct ckpt_log_ring *ring, uint64_t position);

/* Finds the first record at or after *position that is not a filler, and sets *position to
 * its position. Returns NULL if there is none. Skips trimmed records. */
struct ckpt_log_record *ckpt_log_find(struct ckpt_volatile_log *log,
                                      struct ckpt_log_ring *ring, uint64_t *position);

/* The same in the log of a running rank, which may trim it meanwhile: *header receives a
 * copy of the record's header. The record itself stays there only if that rank keeps it
 * for this one. */
struct ckpt_log_record *ckpt_log_find_alive(struct ckpt_volatile_log *log,
                                            struct ckpt_log_ring *ring, uint64_t *position,
                                            struct ckpt_log_record *header);

static inline uint64_t ckpt_log_behind(const struct ckpt_log_record *record,
                                       uint64_t position)
{
    return position + record->size;
}

/*
 * Reserves room for a record with `bytes` after its header, at the end of a ring; the
 * record counts from ckpt_log_commit() on. Returns NULL if the ring is full.
 */
struct ckpt_log_record *ckpt_log_reserve(struct ckpt_volatile_log *log,
                                         struct ckpt_log_ring *ring, size_t bytes);
void ckpt_log_commit(struct ckpt_volatile_log *log, struct ckpt_log_ring *ring,
                     const struct ckpt_log_record *record);

/* Drops a record: turns it into a filler. */
static inline void ckpt_log_drop(struct ckpt_log_record *record)
{
    record->kind = CKPT_LOGGED_FILLER;
}

/* Removes all records from a position on. */
void ckpt_log_cut(struct ckpt_volatile_log *log, struct ckpt_log_ring *ring,
                  uint64_t position);

/* Removes dropped records at the end of the ring, after `from`. */
void ckpt_log_retract(struct ckpt_volatile_log *log, struct ckpt_log_ring *ring,
                      uint64_t from);

/* Removes records from the front up to a position. An empty ring restarts at the beginning
 * of its memory, which is in the cache. */
void ckpt_log_trim(struct ckpt_log_ring *ring, uint64_t position);

/* Return the parts after a record's header. */
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
