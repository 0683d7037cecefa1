/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * partition.c - send partitions as messages, and reassemble them.
 */
#include "cut/messages/partition.h"

#include "base/arena.h"
#include "cut/messages/message.h"
#include "base/invariant.h"
#include "handles/communicator.h"
#include "handles/kinds.h"
#include "handles/message_log.h"
#include "runtime/crossing.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define MOST_PACKED (1 << 30) /* bytes of a message: MPI_Pack counts in ints */

/* Header of a message. A packed partition, or a part of one, follows. */
struct header {
    struct ckpt_partition_transfer transfer;
    uint64_t offset;     /* in the packed stream of all partitions */
    uint32_t partitions; /* of the sender */
    uint32_t unused;
};

/* A message that is being sent. */
struct outgoing {
    struct outgoing *next;
    MPI_Request request;
    size_t allocated;
    struct header header; /* the data follow */
};

static MPI_Comm channel;
static struct outgoing *outgoing;

/* ---- The channel --------------------------------------------------------- */

int ckpt_partition_open(void)
{
    return ckpt_communicator_hidden(&channel);
}

/* Removes messages that have been sent from the list; waits for all of them if
 * `all`. */
static void collect_outgoing(int all)
{
    struct outgoing **link = &outgoing;

    while (*link != NULL) {
        struct outgoing *message = *link;

        if (all) {
            (void)ckpt_request_wait(message->request);
        }
        if (!ckpt_request_progress(message->request)) {
            link = &message->next;
            continue;
        }
        *link = message->next;
        ckpt_request_retire(message->request);
        ckpt_memory_free(message, message->allocated);
    }
}

void ckpt_partition_close(void)
{
    collect_outgoing(1);
}

/* ---- Requests ------------------------------------------------------------ */

static int same_pair(const struct ckpt_made *entry, const struct ckpt_partition_transfer *key,
                     int peer, int sends)
{
    return entry->transfer.sender == key->sender &&
           entry->transfer.tag == key->tag && entry->peer == peer &&
           entry->sends == sends;
}

/* Numbers a transfer among those with the same sender, tag and peer. */
static int number(MPI_Comm comm, struct ckpt_partition_transfer *transfer, int peer, int sends)
{
    struct ckpt_made *entry = comm->made;

    while (entry != NULL && !same_pair(entry, transfer, peer, sends)) {
        entry = entry->next;
    }
    if (entry == NULL) {
        entry = ckpt_memory_alloc(sizeof(*entry));
        if (entry == NULL) {
            return MPI_ERR_NO_MEM;
        }
        *entry = (struct ckpt_made){comm->made, *transfer, peer, sends};
        comm->made = entry;
    }
    transfer->nth = entry->transfer.nth++;
    return MPI_SUCCESS;
}

/* Measures a partition; its packed form has to be the bare data. */
static int measure(MPI_Request request, struct ckpt_partitioned *whole)
{
    MPI_Aint lower_bound;
    MPI_Count size = 0;
    int code;

    CKPT_CALL(code, Type_size_x, CKPT_LOWER(request->datatype), &size);
    if (code == MPI_SUCCESS) {
        CKPT_CALL(code, Type_get_extent, CKPT_LOWER(request->datatype),
                  &lower_bound, &whole->extent);
    }
    if (code == MPI_SUCCESS && size > MOST_PACKED) {
        code = MPI_ERR_COUNT; /* one element exceeds the size of a message */
    }
    whole->element = (size_t)size;
    whole->at_once = size > 0 ? (int)(MOST_PACKED / size) : INT_MAX;
    whole->size = (size_t)size * (size_t)whole->count;
    return code;
}

int ckpt_partition_describe(MPI_Request request, int sends, int partitions,
                            MPI_Count count)
{
    const MPI_Comm comm = request->communicator;
    struct ckpt_partitioned whole = {
        .sends = sends, .partitions = partitions, .count = count};
    const size_t table = (size_t)partitions * sizeof(*whole.filled);
    struct ckpt_partitioned *kept;
    int code = measure(request, &whole);

    whole.transfer = (struct ckpt_partition_transfer){
        .communicator = comm->id,
        .sender = sends ? comm->rank : request->peer,
        .tag = request->tag,
    };
    if (code == MPI_SUCCESS) {
        code = number(comm, &whole.transfer, request->peer, sends);
    }
    if (code != MPI_SUCCESS) {
        return code;
    }
    whole.allocated = sizeof(whole) + table +
                      (sends ? 0 : (size_t)partitions * whole.size);
    kept = ckpt_memory_alloc(whole.allocated);
    if (kept == NULL) {
        return MPI_ERR_NO_MEM;
    }
    *kept = whole;
    kept->filled = (size_t *)(kept + 1);
    kept->stream = (char *)kept->filled + table;
    request->partitioned = kept;
    return MPI_SUCCESS;
}

void ckpt_partition_forget(MPI_Request request)
{
    ckpt_memory_free(request->partitioned, request->partitioned->allocated);
}

void ckpt_partition_start(MPI_Request request)
{
    struct ckpt_partitioned *whole = request->partitioned;

    whole->transfer.round++;
    whole->left = whole->partitions;
    whole->messages = 0;
    whole->arrived = 0;
    memset(whole->filled, 0, (size_t)whole->partitions * sizeof(size_t));
    request->status = ckpt_empty_status;
    request->code = MPI_SUCCESS;
    ckpt_request_activate(request);
    if (!whole->sends && request->peer == MPI_PROC_NULL) {
        request->status.MPI_SOURCE = MPI_PROC_NULL;
        request->complete = 1;
    }
}

/* The elements of a partition that one message holds, or one call unpacks. */
struct part {
    int partition;
    MPI_Count first;
    int count;
};

static struct part part_of(const struct ckpt_partitioned *whole, int partition,
                           MPI_Count first)
{
    const MPI_Count left = whole->count - first;

    return (struct part){partition, first,
                         left < whole->at_once ? (int)left : whole->at_once};
}

/* Address of a part in the application's memory. */
static char *place(MPI_Request request, const struct part *part)
{
    const struct ckpt_partitioned *whole = request->partitioned;

    return (char *)request->buffer +
           (part->partition * (MPI_Aint)whole->count + (MPI_Aint)part->first) *
               whole->extent;
}

/* Offset of a part among all bytes of the request. */
static size_t offset_of(const struct ckpt_partitioned *whole, const struct part *part)
{
    return (size_t)part->partition * whole->size +
           (size_t)part->first * whole->element;
}

/* ---- Sending ------------------------------------------------------------- */

static int pack(MPI_Request request, const struct part *part, void *data, int size)
{
    int code, position = 0;

    CKPT_CALL(code, Pack, place(request, part), part->count,
              CKPT_LOWER(request->datatype), data, size, &position,
              CKPT_LOWER(MPI_COMM_SELF));
    if (code == MPI_SUCCESS && position != size) {
        return MPI_ERR_INTERN; /* not the bare data */
    }
    return code;
}

/* size: bytes of data. */
static int send_message(MPI_Request request, struct outgoing *message, int size)
{
    const MPI_Comm comm = request->communicator;
    MPI_Request send = ckpt_request_new(CKPT_REQUEST_SEND, "MPI_Pready",
                                        request->handle.site);
    int code;

    if (send == NULL) {
        return MPI_ERR_NO_MEM;
    }
    send->buffer = &message->header;
    send->count = (int)sizeof(message->header) + size;
    send->datatype = MPI_BYTE;
    send->peer = comm->members[request->peer];
    send->tag = 0;
    send->communicator = channel;
    send->mode = CKPT_SEND_STANDARD;
    code = ckpt_message_start(send);
    if (code != MPI_SUCCESS) {
        ckpt_request_retire(send);
        return code;
    }
    message->request = send;
    message->next = outgoing;
    outgoing = message;
    return MPI_SUCCESS;
}

static int send_part(MPI_Request request, const struct part *part)
{
    const struct ckpt_partitioned *whole = request->partitioned;
    const int bytes = part->count * (int)whole->element;
    const size_t size = sizeof(struct outgoing) + (size_t)bytes;
    struct outgoing *message = ckpt_memory_alloc(size);
    int code;

    if (message == NULL) {
        return MPI_ERR_NO_MEM;
    }
    message->allocated = size;
    message->header = (struct header){
        .transfer = whole->transfer,
        .offset = offset_of(whole, part),
        .partitions = (uint32_t)whole->partitions,
    };
    code = pack(request, part, &message->header + 1, bytes);
    if (code == MPI_SUCCESS) {
        code = send_message(request, message, bytes);
    }
    if (code != MPI_SUCCESS) {
        ckpt_memory_free(message, size);
    }
    return code;
}

/* Sends a partition as one message, even if it is empty, or as several if it is too
 * large. */
static int send_partition(MPI_Request request, int partition)
{
    const struct ckpt_partitioned *whole = request->partitioned;
    MPI_Count first = 0;
    int code;

    do {
        const struct part part = part_of(whole, partition, first);

        code = send_part(request, &part);
        first += part.count;
    } while (code == MPI_SUCCESS && first < whole->count && whole->element > 0);
    return code;
}

int ckpt_partition_ready(MPI_Request request, int partition)
{
    struct ckpt_partitioned *whole = request->partitioned;
    int code = MPI_SUCCESS;

    if (partition < 0 || partition >= whole->partitions ||
        whole->filled[partition]) {
        return MPI_ERR_ARG;
    }
    collect_outgoing(0);
    if (request->peer != MPI_PROC_NULL) {
        code = send_partition(request, partition);
    }
    if (code == MPI_SUCCESS) {
        whole->filled[partition] = 1;
        request->complete = --whole->left == 0;
    }
    return code;
}

/* ---- Receiving ----------------------------------------------------------- */

static int unpack(MPI_Request request, int partition)
{
    const struct ckpt_partitioned *whole = request->partitioned;
    MPI_Count first = 0;
    int code = MPI_SUCCESS;

    while (code == MPI_SUCCESS && first < whole->count) {
        const struct part part = part_of(whole, partition, first);
        int position = 0;

        CKPT_CALL(code, Unpack, whole->stream + offset_of(whole, &part),
                  part.count * (int)whole->element, &position,
                  place(request, &part), part.count,
                  CKPT_LOWER(request->datatype), CKPT_LOWER(MPI_COMM_SELF));
        first += part.count;
    }
    return code;
}

/* Called when `size` bytes from `offset` on have arrived: unpacks the partitions that
 * are complete. */
static int fill(MPI_Request request, size_t offset, size_t size)
{
    struct ckpt_partitioned *whole = request->partitioned;
    int code = MPI_SUCCESS;

    while (size > 0 && code == MPI_SUCCESS) {
        const size_t partition = offset / whole->size;
        const size_t end = (partition + 1) * whole->size;
        const size_t part = size < end - offset ? size : end - offset;

        whole->filled[partition] += part;
        CKPT_INVARIANT(partition < (size_t)whole->partitions &&
                       whole->filled[partition] <= whole->size);
        if (whole->filled[partition] == whole->size) {
            code = unpack(request, (int)partition);
        }
        offset += part;
        size -= part;
    }
    return code;
}

/* Takes in one message of the present round. */
static void take_in(MPI_Request request, const struct ckpt_log_entry *entry)
{
    struct ckpt_partitioned *whole = request->partitioned;
    const struct header *header = entry->data;
    const size_t total = (size_t)whole->partitions * whole->size;
    const size_t size = entry->size - sizeof(*header);

    whole->messages++;
    if (header->offset + size > total) {
        request->code = MPI_ERR_TRUNCATE;
        request->complete = 1;
        return;
    }
    memcpy(whole->stream + header->offset, header + 1, size);
    whole->arrived += size;
    request->code = fill(request, header->offset, size);
    request->complete =
        request->code != MPI_SUCCESS ||
        (whole->arrived == total &&
         (total > 0 || whole->messages == (int)header->partitions));
}

static void give_status(MPI_Request request)
{
    const struct ckpt_partitioned *whole = request->partitioned;

    request->status.MPI_SOURCE = request->peer;
    request->status.MPI_TAG = request->tag;
    request->status._cancelled = 0;
    request->status._ucount = whole->arrived;
}

void ckpt_partition_progress(MPI_Request request)
{
    const struct ckpt_partitioned *whole = request->partitioned;
    struct ckpt_log_entry *entry, *next;

    if (whole->sends) {
        return;
    }
    if (ckpt_log_waiting(channel) == -EIO) { /* -ENOMEM: nothing is lost */
        request->code = MPI_ERR_OTHER;
        request->complete = 1;
    }
    for (entry = channel->log_first; entry != NULL && !request->complete;
         entry = next) {
        const struct header *header = entry->data;

        next = entry->next;
        if (entry->arrival == NULL && /* else it has not fully arrived */
            memcmp(&header->transfer, &whole->transfer,
                   sizeof(whole->transfer)) == 0) {
            ckpt_log_take(channel, entry);
            take_in(request, entry);
            ckpt_log_free(entry);
        }
    }
    if (request->complete) {
        give_status(request);
    }
}
