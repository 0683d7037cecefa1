/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_log.c - the queue of drained messages of each communicator.
 */
#include "cut/message_log.h"

#include "alone/alone.h"
#include "base/arena.h"
#include "cut/synchronous_send.h"
#include "handles/channels.h"
#include "runtime/crossing.h"

#include <errno.h>

/* Lower communicator of this rank alone. A logged message is sent to ourselves
 * and received with the application's arguments: the library then unpacks,
 * truncates and counts exactly as it always does. */
static MPI_Comm loop;

static uint64_t total_messages;
static uint64_t total_bytes;

int ckpt_log_open(void)
{
    return ckpt_communicator_private(MPI_COMM_SELF, &loop);
}

void ckpt_log_progress(void)
{
    int code, flag; /* nothing ever waits here between calls */

    if (!ckpt_alone()) {
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

struct ckpt_log_entry *ckpt_log_receive(MPI_Message *lower,
                                        const MPI_Status *status)
{
    struct ckpt_log_entry *entry = ckpt_log_entry_new(
        status->MPI_SOURCE, status->MPI_TAG, status->_ucount);
    MPI_Status ignored;
    int code;

    if (entry == NULL) {
        return NULL;
    }
    ckpt_lane_keep(1);
    CKPT_CALL(code, Mrecv, entry->data, (int)entry->size, CKPT_LOWER(MPI_BYTE),
              lower, &ignored);
    ckpt_lane_keep(0);
    (void)code; /* the size is right, and bytes take any type */
    return entry;
}

void ckpt_log_append(MPI_Comm comm, struct ckpt_log_entry *entry)
{
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
    MPI_Message lower;
    MPI_Status status;
    int code, flag = 1;

    for (;;) {
        struct ckpt_log_entry *entry;

        CKPT_CALL(code, Improbe, MPI_ANY_SOURCE, MPI_ANY_TAG,
                  CKPT_CHANNEL(comm), &flag, &lower, &status);
        if (code != MPI_SUCCESS || !flag) {
            return 0;
        }
        entry = ckpt_log_receive(&lower, &status);
        if (entry == NULL) {
            return -ENOMEM;
        }
        ckpt_log_append(comm, entry);
        comm->received[entry->source]++;
    }
}

void ckpt_log_insert(MPI_Comm comm, struct ckpt_log_entry *entry)
{
    struct ckpt_log_entry **link = &comm->log_first;

    if (*link == NULL || comm->log_last->order < entry->order) {
        ckpt_log_append(comm, entry);
        return;
    }
    while ((*link)->order < entry->order) { /* those without are older */
        link = &(*link)->next;
    }
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
        previous = *link;
        link = &previous->next;
    }
    *link = entry->next;
    if (comm->log_last == entry) {
        comm->log_last = previous;
    }
    total_messages--;
    total_bytes -= entry->size;
    if (__builtin_expect(entry->waiter != 0, 0)) {
        ckpt_synchronous_consumed(entry);
    }
}

void ckpt_log_free(struct ckpt_log_entry *entry)
{
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

int ckpt_log_deliver(struct ckpt_log_entry *entry, void *buffer, int count,
                     MPI_Datatype datatype, MPI_Status *status)
{
    MPI_Datatype lower_type = CKPT_LOWER(datatype);
    MPI_Request receive;
    MPI_Status own;
    uintptr_t upper;
    int code, result;

    upper = ckpt_enter();
    code = CKPT_FUNCTION(Irecv)(buffer, count, lower_type, 0, 0, loop, &receive);
    if (code == MPI_SUCCESS) {
        code = CKPT_FUNCTION(Send)(entry->data, (int)entry->size,
                                   CKPT_LOWER(MPI_BYTE), 0, 0, loop);
        result = CKPT_FUNCTION(Wait)(&receive, &own);
        code = code == MPI_SUCCESS ? result : code;
    }
    ckpt_leave(upper);
    own.MPI_SOURCE = entry->source;
    own.MPI_TAG = entry->tag;
    if (status != MPI_STATUS_IGNORE) {
        *status = own;
    }
    ckpt_log_free(entry);
    return code;
}

/* Only as many elements as hold what has come: the last may be a part of one. */
struct ckpt_log_entry *ckpt_log_collect(void *buffer, int count,
                                        MPI_Datatype datatype,
                                        const MPI_Status *status)
{
    MPI_Datatype lower_type = CKPT_LOWER(datatype);
    struct ckpt_log_entry *entry;
    MPI_Request receive;
    MPI_Status ignored;
    size_t filled = 0;
    int code, size = 0;

    CKPT_CALL(code, Type_size, lower_type, &size);
    if (size > 0) {
        filled = (status->_ucount + (size_t)size - 1) / (size_t)size;
    }
    entry = ckpt_log_entry_new(status->MPI_SOURCE, status->MPI_TAG,
                               filled * (size_t)size);
    if (entry == NULL || code != MPI_SUCCESS || filled > (size_t)count) {
        return NULL;
    }
    CKPT_CALL(code, Irecv, entry->data, (int)entry->size, CKPT_LOWER(MPI_BYTE),
              0, 0, loop, &receive);
    CKPT_CALL(code, Send, buffer, (int)filled, lower_type, 0, 0, loop);
    CKPT_CALL(code, Wait, &receive, &ignored);
    entry->size = status->_ucount;
    return entry;
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
