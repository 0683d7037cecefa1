/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_log.c - the queue of drained messages of each communicator.
 */
#include "cut/message_log.h"

#include "base/arena.h"
#include "cut/synchronous_send.h"
#include "runtime/crossing.h"

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

    CKPT_CALL(code, Iprobe, 0, 0, loop, &flag, MPI_STATUS_IGNORE);
    (void)code;
}

struct ckpt_log_entry *ckpt_log_receive(MPI_Message *lower,
                                        const MPI_Status *status)
{
    struct ckpt_log_entry *entry = ckpt_memory_alloc(sizeof(*entry));
    MPI_Status ignored;
    int code;

    if (entry == NULL) {
        return NULL;
    }
    *entry = (struct ckpt_log_entry){0};
    entry->source = status->MPI_SOURCE;
    entry->tag = status->MPI_TAG;
    entry->size = status->_ucount;
    entry->space = entry->size == 0 ? 16 : entry->size;
    entry->data = ckpt_memory_alloc(entry->space);
    if (entry->data == NULL) {
        ckpt_memory_free(entry, sizeof(*entry));
        return NULL;
    }
    CKPT_CALL(code, Mrecv, entry->data, (int)entry->size, CKPT_LOWER(MPI_BYTE),
              lower, &ignored);
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
