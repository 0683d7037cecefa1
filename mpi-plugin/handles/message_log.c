/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_log.c - the queue of drained messages of each communicator.
 */
#include "handles/message_log.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "handles/channels.h"
#include "runtime/crossing.h"
#include "runtime/state.h"

#include <errno.h>

/* A lower communicator of this rank alone. A logged message is sent to this rank itself
 * and received with the application's arguments. So the library unpacks, truncates and
 * counts exactly as it always does. */
static MPI_Comm loop;

static void (*consumed)(const struct ckpt_log_entry *entry);

static uint64_t total_messages;
static uint64_t total_bytes;

void ckpt_log_tell(void (*tell)(const struct ckpt_log_entry *entry))
{
    consumed = tell;
}

int ckpt_log_open(void)
{
    return ckpt_communicator_private(MPI_COMM_SELF, &loop);
}

void ckpt_log_progress(void)
{
    int code, flag; /* no message stays in `loop` between calls */

    if (!ckpt_non_mpi) {
        CKPT_CALL(code, Iprobe, 0, 0, loop, &flag, MPI_STATUS_IGNORE);
        (void)code;
    }
}

struct ckpt_log_entry *ckpt_log_entry_new(int source, int tag, size_t size)
{
    struct ckpt_log_entry *entry = ckpt_memory_alloc(sizeof(*entry));

    if (entry == NULL) {
        return NULL;
    }
    *entry = (struct ckpt_log_entry){.source = source, .tag = tag, .size = size};
    entry->space = size == 0 ? 16 : size;
    entry->data = ckpt_memory_alloc(entry->space);
    if (entry->data == NULL) {
        ckpt_memory_free(entry, sizeof(*entry));
        return NULL;
    }
    return entry;
}

int ckpt_log_prepare(const MPI_Status *status, struct ckpt_log_room *room)
{
    room->entry = ckpt_log_entry_new(status->MPI_SOURCE, status->MPI_TAG,
                                     status->_ucount);
    if (room->entry == NULL) {
        return -ENOMEM;
    }
    if (ckpt_bytes_describe(room->entry->size, &room->bytes) != MPI_SUCCESS) {
        ckpt_log_free(room->entry);
        room->entry = NULL;
        return -EIO;
    }
    return 0;
}

static void give_up(struct ckpt_log_room *room)
{
    ckpt_bytes_free(&room->bytes);
    ckpt_log_free(room->entry);
    room->entry = NULL;
}

/* Allocates room before the message is matched: a matched message that cannot be received
 * would be lost. No other thread posts a receive in between, as this one holds the lock. */
int ckpt_log_match_waiting(MPI_Comm channel, struct ckpt_log_room *room,
                           MPI_Message *lower)
{
    MPI_Status status;
    int code, error, flag;

    CKPT_CALL(code, Iprobe, MPI_ANY_SOURCE, MPI_ANY_TAG, channel, &flag, &status);
    if (code != MPI_SUCCESS || !flag) {
        return code == MPI_SUCCESS ? 0 : -EIO;
    }
    error = ckpt_log_prepare(&status, room);
    if (error != 0) {
        return error;
    }
    CKPT_CALL(code, Improbe, status.MPI_SOURCE, status.MPI_TAG, channel, &flag,
              lower, &status);
    if (code == MPI_SUCCESS && flag) {
        return 1;
    }
    give_up(room);
    return -EIO;
}

int ckpt_log_receive(struct ckpt_log_room *room, MPI_Message *lower)
{
    struct ckpt_log_entry *entry = room->entry;
    MPI_Status ignored;

    ckpt_thread_context_keep(1);
    CKPT_CALL(entry->code, Mrecv, entry->data, room->bytes.count,
              room->bytes.type, lower, &ignored);
    ckpt_thread_context_keep(0);
    ckpt_bytes_free(&room->bytes);
    return entry->code == MPI_SUCCESS ? 0 : -EIO;
}

void ckpt_log_append(MPI_Comm comm, struct ckpt_log_entry *entry)
{
    CKPT_INVARIANT(comm->log_first == NULL || comm->log_last->next == NULL);
    entry->next = NULL;
    if (comm->log_first == NULL) {
        comm->log_first = entry;
    } else {
        comm->log_last->next = entry;
    }
    comm->log_last = entry;
    total_messages++;
    total_bytes += entry->size;
}

int ckpt_log_waiting(MPI_Comm comm)
{
    struct ckpt_log_room room;
    MPI_Message lower;
    int found, error = 0;

    while (error == 0 &&
           (found = ckpt_log_match_waiting(CKPT_CHANNEL(comm), &room, &lower)) != 0) {
        if (found < 0) {
            return found;
        }
        error = ckpt_log_receive(&room, &lower);
        ckpt_log_append(comm, room.entry);
        CKPT_INVARIANT(room.entry->source >= 0 && room.entry->source < comm->peers);
        comm->received[room.entry->source]++;
    }
    return error;
}

void ckpt_log_insert(MPI_Comm comm, struct ckpt_log_entry *entry)
{
    struct ckpt_log_entry **link = &comm->log_first;

    if (*link == NULL || comm->log_last->order < entry->order) {
        ckpt_log_append(comm, entry);
        return;
    }
    while ((*link)->order < entry->order) { /* entries without an order are older */
        link = &(*link)->next;
    }
    CKPT_INVARIANT(*link != NULL); /* the last one has a higher order */
    entry->next = *link;
    *link = entry;
    total_messages++;
    total_bytes += entry->size;
}

struct ckpt_log_entry *ckpt_log_match(MPI_Comm comm, int source, int tag)
{
    struct ckpt_log_entry *entry = comm->log_first;

    while (entry != NULL &&
           !((source == MPI_ANY_SOURCE || source == entry->source) &&
             (tag == MPI_ANY_TAG || tag == entry->tag))) {
        entry = entry->next;
    }
    return entry;
}

void ckpt_log_take(MPI_Comm comm, struct ckpt_log_entry *entry)
{
    struct ckpt_log_entry **link = &comm->log_first;
    struct ckpt_log_entry *previous = NULL;

    while (*link != entry) {
        if (!CKPT_INVARIANT(*link != NULL)) { /* it is in the list */
            return;
        }
        previous = *link;
        link = &previous->next;
    }
    *link = entry->next;
    if (comm->log_last == entry) {
        comm->log_last = previous;
    }
    CKPT_INVARIANT(total_messages > 0 && total_bytes >= entry->size);
    total_messages--;
    total_bytes -= entry->size;
    if (__builtin_expect(entry->waiter != 0, 0)) {
        consumed(entry);
    }
}

void ckpt_log_free(struct ckpt_log_entry *entry)
{
    CKPT_INVARIANT(entry->space >= entry->size);
    ckpt_memory_free(entry->data, entry->space);
    ckpt_memory_free(entry, sizeof(*entry));
}

void ckpt_log_status(const struct ckpt_log_entry *entry, MPI_Status *status)
{
    if (status != MPI_STATUS_IGNORE) {
        status->MPI_SOURCE = entry->source;
        status->MPI_TAG = entry->tag;
        status->_cancelled = 0;
        status->_ucount = entry->size;
    }
}

/* Buffer arguments with which a message to this rank itself is sent or received. */
struct side {
    void *buffer;
    int count;
    MPI_Datatype type; /* lower */
};

/* Sends from one side to the other. *status: of the receive, set unless the receive could
 * not begin. No other thread can interfere. Returns an MPI error code. */
static int copy_by_message(const struct side *from, const struct side *to,
                           MPI_Status *status)
{
    const uintptr_t upper = ckpt_enter();
    MPI_Request receive;
    int result,
        code = CKPT_FUNCTION(Irecv)(to->buffer, to->count, to->type, 0, 0, loop,
                                    &receive);

    if (code == MPI_SUCCESS) {
        code = CKPT_FUNCTION(Send)(from->buffer, from->count, from->type, 0, 0,
                                   loop);
        result = CKPT_FUNCTION(Wait)(&receive, status);
        code = code == MPI_SUCCESS ? result : code;
    }
    ckpt_leave(upper);
    return code;
}

static int unpack(const struct ckpt_log_entry *entry, const struct side *to,
                  MPI_Status *status)
{
    struct ckpt_bytes bytes;
    int code = ckpt_bytes_describe(entry->size, &bytes);

    if (code == MPI_SUCCESS) {
        code = copy_by_message(
            &(struct side){entry->data, bytes.count, bytes.type}, to, status);
        ckpt_bytes_free(&bytes);
    }
    return code;
}

int ckpt_log_deliver(struct ckpt_log_entry *entry, void *buffer, int count,
                     MPI_Datatype datatype, MPI_Status *status)
{
    MPI_Status own = {.MPI_ERROR = MPI_SUCCESS};
    int code = entry->code;

    if (code == MPI_SUCCESS) {
        code = unpack(entry, &(struct side){buffer, count, CKPT_LOWER(datatype)},
                      &own);
    }
    own.MPI_SOURCE = entry->source;
    own.MPI_TAG = entry->tag;
    if (status != MPI_STATUS_IGNORE) {
        *status = own;
    }
    ckpt_log_free(entry);
    return code;
}

/* Packs `count` elements into an entry of that many bytes. Returns 0 or -EIO. */
static int pack(const struct side *from, struct ckpt_log_entry *entry)
{
    struct ckpt_bytes bytes;
    MPI_Status ignored;
    int code = ckpt_bytes_describe(entry->size, &bytes);

    if (code == MPI_SUCCESS) {
        code = copy_by_message(
            from, &(struct side){entry->data, bytes.count, bytes.type}, &ignored);
        ckpt_bytes_free(&bytes);
    }
    return code == MPI_SUCCESS ? 0 : -EIO;
}

/* Packs only as many elements as hold the received bytes: the last may be partial. */
int ckpt_log_collect(void *buffer, int count, MPI_Datatype datatype,
                     const MPI_Status *status, struct ckpt_log_entry **entry_p)
{
    const MPI_Datatype lower_type = CKPT_LOWER(datatype);
    struct ckpt_log_entry *entry;
    MPI_Count size = 0;
    size_t filled = 0;
    int code, error;

    *entry_p = NULL;
    CKPT_CALL(code, Type_size_x, lower_type, &size);
    if (code != MPI_SUCCESS) {
        return -EIO;
    }
    if (size > 0) {
        filled = (status->_ucount + (size_t)size - 1) / (size_t)size;
    }
    if (filled > (size_t)count) {
        return -EIO; /* no receive can have put so much there */
    }
    entry = ckpt_log_entry_new(status->MPI_SOURCE, status->MPI_TAG,
                               filled * (size_t)size);
    if (entry == NULL) {
        return -ENOMEM;
    }
    error = pack(&(struct side){buffer, (int)filled, lower_type}, entry);
    if (error != 0) {
        ckpt_log_free(entry);
        return error;
    }
    CKPT_INVARIANT(entry->space >= status->_ucount);
    entry->size = status->_ucount;
    *entry_p = entry;
    return 0;
}

void ckpt_log_discard(MPI_Comm comm)
{
    while (comm->log_first != NULL) {
        struct ckpt_log_entry *entry = comm->log_first;

        ckpt_log_take(comm, entry);
        ckpt_log_free(entry);
    }
}

void ckpt_log_totals(uint64_t *messages_p, uint64_t *bytes_p)
{
    *messages_p = total_messages;
    *bytes_p = total_bytes;
}
