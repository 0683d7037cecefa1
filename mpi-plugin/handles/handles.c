/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handles.c - make, find, count and free MPI objects.
 */
#include "handles/handles.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "handles/attribute.h"
#include "handles/kinds.h"
#include "runtime/crossing.h"
#include "runtime/free_later.h"

#include <sched.h>
#include <stdlib.h>

struct ckpt_kind_calls ckpt_kind_calls[CKPT_KIND_COUNT];
int ckpt_recipes_missing;

/* Heads of the circular live lists. */
static struct ckpt_handle live[CKPT_KIND_COUNT];

/* From lower handle to predefined object: open addressing, rebuilt whenever a
 * lower half is loaded. */
#define TABLE_SIZE 1024u
static struct {
    void *lower;
    void *object;
} table[TABLE_SIZE];

static uint32_t slot_of(const void *lower)
{
    return (uint32_t)(((uintptr_t)lower >> 5) * 2654435761u) % TABLE_SIZE;
}

void *ckpt_predefined_find(const void *lower)
{
    uint32_t i;

    for (i = slot_of(lower); table[i].lower != NULL; i = (i + 1) % TABLE_SIZE) {
        if (table[i].lower == lower) {
            return table[i].object;
        }
    }
    return NULL;
}

/* The objects that were freed last, in a ring: see ckpt_handle_destroy. */
#define STALE_COUNT 256
static struct ckpt_handle *stale[STALE_COUNT];
static unsigned int stale_next;

/* Returns the lower half's null handle for a kind. */
static void *lower_null(uint32_t kind)
{
    void *const nulls[CKPT_KIND_COUNT] = {
        [CKPT_COMM] = MPI_COMM_NULL,
        [CKPT_GROUP] = MPI_GROUP_NULL,
        [CKPT_DATATYPE] = MPI_DATATYPE_NULL,
        [CKPT_OP] = MPI_OP_NULL,
        [CKPT_REQUEST] = MPI_REQUEST_NULL,
        [CKPT_WIN] = MPI_WIN_NULL,
        [CKPT_FILE] = MPI_FILE_NULL,
        [CKPT_INFO] = NULL, /* MPI_INFO_NULL is a normal argument */
        [CKPT_ERRHANDLER] = MPI_ERRHANDLER_NULL,
        [CKPT_MESSAGE] = MPI_MESSAGE_NULL,
    };

    return CKPT_LOWER(nulls[kind]);
}

void ckpt_predefined_bind(void)
{
    uint32_t i, slot;

    CKPT_INVARIANT(ckpt_predefined_count < TABLE_SIZE);
    for (i = 0; i < TABLE_SIZE; i++) {
        table[i].lower = NULL;
    }
    for (i = 0; i < ckpt_predefined_count; i++) {
        const struct ckpt_predefined *entry = &ckpt_predefined[i];
        struct ckpt_handle *handle = entry->object;

        if (entry->kind == 0) {
            continue;
        }
        CKPT_INVARIANT(entry->kind < CKPT_KIND_COUNT);
        handle->lower = ckpt_lower.object[i];
        handle->kind = entry->kind;
        handle->flags |= CKPT_HANDLE_PREDEFINED | CKPT_HANDLE_COMMITTED;
        handle->references = 1;
        handle->creator = entry->symbol;
        if (handle->lower == NULL) {
            continue;
        }
        for (slot = slot_of(handle->lower); table[slot].lower != NULL;
             slot = (slot + 1) % TABLE_SIZE) {
        }
        table[slot].lower = handle->lower;
        table[slot].object = handle;
    }
    for (i = 0; i < STALE_COUNT; i++) {
        if (stale[i] != NULL) {
            stale[i]->lower = lower_null(stale[i]->kind);
        }
    }
}

static struct ckpt_handle *live_head(enum ckpt_kind kind)
{
    struct ckpt_handle *head = &live[kind];

    if (head->next == NULL) {
        head->next = head;
        head->previous = head;
    }
    return head;
}

struct ckpt_handle *ckpt_live(enum ckpt_kind kind)
{
    struct ckpt_handle *head = live_head(kind);

    CKPT_INVARIANT(head->next->previous == head && head->previous->next == head);
    return head->next == head ? NULL : head->next;
}

struct ckpt_handle *ckpt_live_next(const struct ckpt_handle *handle)
{
    CKPT_INVARIANT(handle->next != NULL && handle->kind < CKPT_KIND_COUNT);
    return handle->next == &live[handle->kind] ? NULL : handle->next;
}

struct ckpt_handle *ckpt_live_last(enum ckpt_kind kind)
{
    struct ckpt_handle *head = live_head(kind);

    return head->previous == head ? NULL : head->previous;
}

struct ckpt_handle *ckpt_live_previous(const struct ckpt_handle *handle)
{
    return handle->previous == &live[handle->kind] ? NULL : handle->previous;
}

/*
 * The wrapper of a user-defined operation looks up its datatype without the
 * lock of runtime/thread_context.h: it must not wait for that lock inside the lower half.
 * So the lists have a lock of their own, held for a few instructions.
 */
static int lists_locked;

static void lock_lists(void)
{
    while (ckpt_multiple &&
           __atomic_exchange_n(&lists_locked, 1, __ATOMIC_ACQUIRE) != 0) {
        sched_yield();
    }
}

static void unlock_lists(void)
{
    __atomic_store_n(&lists_locked, 0, __ATOMIC_RELEASE);
}

void ckpt_handle_link(struct ckpt_handle *handle)
{
    struct ckpt_handle *head = live_head(handle->kind);

    lock_lists();
    CKPT_INVARIANT(head->previous->next == head);
    handle->next = head;
    handle->previous = head->previous;
    head->previous->next = handle;
    head->previous = handle;
    unlock_lists();
}

void ckpt_handle_unlink(struct ckpt_handle *handle)
{
    lock_lists();
    CKPT_INVARIANT(handle->previous->next == handle && handle->next->previous == handle);
    handle->previous->next = handle->next;
    handle->next->previous = handle->previous;
    unlock_lists();
}

void *ckpt_live_find(enum ckpt_kind kind, const void *lower)
{
    struct ckpt_handle *handle;

    lock_lists();
    handle = ckpt_live(kind);
    while (handle != NULL && handle->lower != lower) {
        handle = ckpt_live_next(handle);
    }
    unlock_lists();
    return handle;
}

void *ckpt_handle_new(enum ckpt_kind kind, size_t size, void *lower,
                      const char *creator, void *site)
{
    struct ckpt_handle *handle;

    ckpt_free_noted();
    handle = calloc(1, size);
    if (handle == NULL) {
        return NULL;
    }
    handle->lower = lower;
    handle->kind = kind;
    handle->references = 1;
    handle->creator = creator;
    handle->site = site;
    return handle;
}

void *ckpt_handle_create(enum ckpt_kind kind, size_t size, void *lower,
                         const char *creator, void *site)
{
    struct ckpt_handle *handle =
        ckpt_handle_new(kind, size, lower, creator, site);

    if (handle != NULL) {
        ckpt_handle_link(handle);
        ckpt_recipes_missing |= ckpt_kind_calls[kind].is_recorded;
    }
    return handle;
}

static void put_aside(struct ckpt_handle *handle)
{
    CKPT_INVARIANT(stale_next < STALE_COUNT);
    struct ckpt_handle *oldest = stale[stale_next];

    handle->lower = lower_null(handle->kind);
    handle->references = 0;
    handle->attributes = NULL;
    handle->name = NULL;
    handle->recipe = NULL;
    stale[stale_next] = handle;
    stale_next = (stale_next + 1) % STALE_COUNT;
    ckpt_free_later(oldest);
}

void ckpt_handle_destroy(struct ckpt_handle *handle)
{
    CKPT_INVARIANT((handle->flags & CKPT_HANDLE_PREDEFINED) == 0);
    ckpt_handle_unlink(handle);
    ckpt_number_forget(handle);
    if (handle->recipe != NULL) {
        ckpt_memory_free(handle->recipe, handle->recipe_size);
    }
    ckpt_free_later(handle->name);
    if (handle->kind == CKPT_DATATYPE) {
        ckpt_free_later(((MPI_Datatype)handle)->map);
        ((MPI_Datatype)handle)->map = NULL;
    }
    put_aside(handle);
}

void *ckpt_adopt(enum ckpt_kind kind, void *lower, const char *creator,
                 void *site)
{
    void *object = ckpt_predefined_find(lower);

    return object != NULL ? object
                          : ckpt_handle_create(kind, ckpt_kind_calls[kind].size,
                                               lower, creator, site);
}

void ckpt_drop(void *object)
{
    struct ckpt_handle *handle = object;
    const struct ckpt_kind_calls *calls;

    if ((handle->flags & CKPT_HANDLE_PREDEFINED) != 0 ||
        handle->references == 0 || /* freed for the second time */
        --handle->references > 0) {
        return;
    }
    calls = &ckpt_kind_calls[handle->kind];
    if (calls->free_lower != NULL && handle->lower != NULL) {
        calls->free_lower(handle);
    }
    calls->destroy(handle);
}

void ckpt_release(void *object)
{
    struct ckpt_handle *handle = object;

    if ((handle->flags & CKPT_HANDLE_PREDEFINED) == 0) {
        handle->flags |= CKPT_HANDLE_FREED;
        ckpt_drop(handle);
    }
}

void **ckpt_translate(int count, void *const objects[], void **buffer,
                      int capacity)
{
    void **lower = buffer;
    int i;

    if (count > capacity) {
        lower = ckpt_memory_alloc((size_t)count * sizeof(*lower));
        if (lower == NULL) {
            return NULL;
        }
    }
    for (i = 0; objects != NULL && i < count; i++) {
        lower[i] = CKPT_LOWER(objects[i]);
        if (objects[i] == NULL) { /* the library stops here, too */
            break;
        }
    }
    return lower;
}

void ckpt_translated_done(int count, void **lower, void **buffer)
{
    if (lower != buffer) {
        ckpt_memory_free(lower, (size_t)count * sizeof(*lower));
    }
}
