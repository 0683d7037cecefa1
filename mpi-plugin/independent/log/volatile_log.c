/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * volatile_log.c - rings of records.
 *
 * A ring always ends with the record at its tail: memory after it is undefined. If a record
 * does not fit before the end of the memory, a filler takes the rest, and the record starts
 * at the beginning of the memory.
 */
#include "independent/log/volatile_log.h"

#include "base/invariant.h"

#define ALIGN UINT64_C(8)

static char *memory_of(struct ckpt_volatile_log *log, const struct ckpt_log_ring *ring)
{
    char *memory = (char *)(log + 1);

    return ring == &log->writes ? memory : memory + log->writes.capacity;
}

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + ALIGN - 1) & ~(ALIGN - 1);
}

void ckpt_log_format(struct ckpt_volatile_log *log, uint64_t capacity)
{
    CKPT_INVARIANT(capacity != 0 && capacity % ALIGN == 0);
    log->writes.capacity = capacity;
    log->events.capacity = capacity;
}

struct ckpt_log_record *ckpt_log_at(struct ckpt_volatile_log *log,
                                    struct ckpt_log_ring *ring, uint64_t position)
{
    CKPT_INVARIANT(ring->capacity != 0 && position % ALIGN == 0);
    return (struct ckpt_log_record *)(memory_of(log, ring) + position % ring->capacity);
}

struct ckpt_log_record *ckpt_log_find(struct ckpt_volatile_log *log,
                                      struct ckpt_log_ring *ring, uint64_t *position)
{
    struct ckpt_log_record *record;

    if (*position < ring->head) {
        *position = ring->head;
    }
    while (*position < ring->tail) {
        record = ckpt_log_at(log, ring, *position);
        if (record->kind != CKPT_LOGGED_FILLER) {
            return record;
        }
        if (!CKPT_INVARIANT(record->size >= ALIGN && record->size % ALIGN == 0)) {
            return NULL;
        }
        *position += record->size;
    }
    return NULL;
}

/* The log's rank raises the head before it overwrites records: a record that was read counts
 * if the head has not passed it since. A filler has only its first words. */
struct ckpt_log_record *ckpt_log_find_alive(struct ckpt_volatile_log *log,
                                            struct ckpt_log_ring *ring, uint64_t *position,
                                            struct ckpt_log_record *header)
{
    struct ckpt_log_record *record;
    uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);

    for (;;) {
        if (*position < head) {
            *position = head;
        }
        if (*position >= __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE)) {
            return NULL;
        }
        record = ckpt_log_at(log, ring, *position);
        header->size = *(volatile uint32_t *)&record->size;
        header->kind = *(volatile uint32_t *)&record->kind;
        if (header->kind != CKPT_LOGGED_FILLER) {
            *header = *record;
        }
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
        if (*position < head) {
            continue;
        }
        if (header->kind != CKPT_LOGGED_FILLER) {
            return record;
        }
        *position += header->size;
    }
}

/* Bytes up to the end of the memory; a filler needs room for its first words. */
static uint64_t straight(const struct ckpt_log_ring *ring)
{
    return ring->capacity - ring->tail % ring->capacity;
}

static void fill_up(struct ckpt_volatile_log *log, struct ckpt_log_ring *ring)
{
    struct ckpt_log_record *filler = ckpt_log_at(log, ring, ring->tail);
    const uint64_t size = straight(ring);

    CKPT_INVARIANT(size >= ALIGN && size <= UINT32_MAX && size % ALIGN == 0);
    filler->size = (uint32_t)size;
    filler->kind = CKPT_LOGGED_FILLER;
    __asm__ volatile("" ::
                         : "memory");
    ring->tail += size;
    log->ever += size;
}

struct ckpt_log_record *ckpt_log_reserve(struct ckpt_volatile_log *log,
                                         struct ckpt_log_ring *ring, size_t bytes)
{
    const uint64_t size = rounded(sizeof(struct ckpt_log_record) + bytes);
    const uint64_t rest = straight(ring);
    struct ckpt_log_record *record;

    if (size > UINT32_MAX ||
        ring->tail - ring->head + size + (size > rest ? rest : 0) > ring->capacity) {
        return NULL;
    }
    if (size > rest) {
        fill_up(log, ring);
    }
    CKPT_INVARIANT(size <= straight(ring));
    record = ckpt_log_at(log, ring, ring->tail);
    *record = (struct ckpt_log_record){.size = (uint32_t)size};
    return record;
}

void ckpt_log_commit(struct ckpt_volatile_log *log, struct ckpt_log_ring *ring,
                     const struct ckpt_log_record *record)
{
    __asm__ volatile("" ::
                         : "memory"); /* after a kill, the whole record is there */
    CKPT_INVARIANT(record == ckpt_log_at(log, ring, ring->tail) && record->size % ALIGN == 0);
    ring->tail += record->size;
    log->ever += record->size;
}

void ckpt_log_cut(struct ckpt_volatile_log *log, struct ckpt_log_ring *ring,
                  uint64_t position)
{
    CKPT_INVARIANT(position >= ring->head && position <= ring->tail);
    log->ever -= ring->tail - position;
    ring->tail = position;
}

void ckpt_log_retract(struct ckpt_volatile_log *log, struct ckpt_log_ring *ring,
                      uint64_t from)
{
    uint64_t position = from, end = from;
    struct ckpt_log_record *record;

    while ((record = ckpt_log_find(log, ring, &position)) != NULL) {
        position = ckpt_log_behind(record, position);
        end = position;
    }
    ckpt_log_cut(log, ring, end);
}

void ckpt_log_trim(struct ckpt_log_ring *ring, uint64_t position)
{
    const uint64_t rest = position % ring->capacity;

    CKPT_INVARIANT(position >= ring->head && position <= ring->tail);
    __atomic_store_n(&ring->head, position, __ATOMIC_RELEASE);
    if (position == ring->tail && rest != 0) {
        ring->head = position + ring->capacity - rest; /* killed here, the ring is empty */
        __asm__ volatile("" ::
                             : "memory");
        ring->tail = ring->head;
    }
    __atomic_thread_fence(__ATOMIC_RELEASE); /* before later writes to the trimmed part */
}
