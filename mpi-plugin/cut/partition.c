/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * partition.c - send partitions as messages, and put them together again.
 */
#include "cut/partition.h"

#include "base/arena.h"
#include "cut/message_log.h"
#include "handles/communicator.h"
#include "handles/kinds.h"
#include "runtime/crossing.h"

#include <limits.h>
#include <string.h>

/* A message: this, and the partition, packed. */
struct header {
    struct ckpt_transfer transfer;
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

/* How many requests were made on a communicator for one sender and tag. Both ends count
 * alike as long as there is the communicator, whose id no other one has. */
struct ckpt_made {
    struct ckpt_made *next;
    struct ckpt_transfer transfer; /* nth: of the next one */
    int peer;
    int sends;
};

static MPI_Comm channel;
static struct outgoing *outgoing;

/* ---- The channel --------------------------------------------------------- */

int ckpt_partition_open(void)
{
    return ckpt_communicator_hidden(&channel);
}

/* Takes messages that have left off the list; all of them, if need be. */
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

static int same_pair(const struct ckpt_made *entry, const struct ckpt_transfer *key,
                     int peer, int sends)
{
    return entry->transfer.sender == key->sender &&
           entry->transfer.tag == key->tag && entry->peer == peer &&
           entry->sends == sends;
}

/* Numbers a transfer among those that it could be taken for. */
static int number(MPI_Comm comm, struct ckpt_transfer *transfer, int peer, int sends)
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

/* The sizes of a partition; its packed form has to be the bare data. */
static int measure(MPI_Request request, struct ckpt_partitioned *whole)
{
    MPI_Aint lower_bound;
    int code, size = 0;

    CKPT_CALL(code, Type_size, CKPT_LOWER(request->datatype), &size);
    if (code == MPI_SUCCESS) {
        CKPT_CALL(code, Type_get_extent, CKPT_LOWER(request->datatype),
                  &lower_bound, &whole->extent);
    }
    if (code == MPI_SUCCESS && size > 0 &&
        whole->count > (MPI_Count)(INT_MAX - sizeof(struct header)) / size) {
        code = MPI_ERR_COUNT; /* more than a message can hold */
    }
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

    whole.transfer = (struct ckpt_transfer){
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

void ckpt_partition_discard(MPI_Comm comm)
{
    while (comm->made != NULL) {
        struct ckpt_made *entry = comm->made;

        comm->made = entry->next;
        ckpt_memory_free(entry, sizeof(*entry));
    }
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

/* Where a partition is in the application's memory. */
static char *place(MPI_Request request, int partition)
{
    const struct ckpt_partitioned *whole = request->partitioned;

    return (char *)request->buffer +
           partition * (MPI_Aint)whole->count * whole->extent;
}

/* ---- Sending ------------------------------------------------------------- */

static int pack(MPI_Request request, int partition, void *data)
{
    const struct ckpt_partitioned *whole = request->partitioned;
    int code, position = 0;

    CKPT_CALL(code, Pack, place(request, partition), (int)whole->count,
              CKPT_LOWER(request->datatype), data, (int)whole->size, &position,
              CKPT_LOWER(MPI_COMM_SELF));
    if (code == MPI_SUCCESS && (size_t)position != whole->size) {
        return MPI_ERR_INTERN; /* not the bare data */
    }
    return code;
}

static int send_message(MPI_Request request, struct outgoing *message)
{
    const MPI_Comm comm = request->communicator;
    MPI_Request send = ckpt_request_new(CKPT_REQUEST_SEND, "MPI_Pready",
                                        request->handle.site);
    int code;

    if (send == NULL) {
        return MPI_ERR_NO_MEM;
    }
    send->buffer = &message->header;
    send->count = (int)(sizeof(message->header) + request->partitioned->size);
    send->datatype = MPI_BYTE;
    send->peer = comm->members[request->peer];
    send->tag = 0;
    send->communicator = channel;
    send->mode = CKPT_SEND_STANDARD;
    code = ckpt_request_start(send);
    if (code != MPI_SUCCESS) {
        ckpt_request_retire(send);
        return code;
    }
    message->request = send;
    message->next = outgoing;
    outgoing = message;
    return MPI_SUCCESS;
}

static int send_partition(MPI_Request request, int partition)
{
    const struct ckpt_partitioned *whole = request->partitioned;
    const size_t size = sizeof(struct outgoing) + whole->size;
    struct outgoing *message = ckpt_memory_alloc(size);
    int code;

    if (message == NULL) {
        return MPI_ERR_NO_MEM;
    }
    message->allocated = size;
    message->header = (struct header){
        .transfer = whole->transfer,
        .offset = (uint64_t)partition * whole->size,
        .partitions = (uint32_t)whole->partitions,
    };
    code = pack(request, partition, &message->header + 1);
    if (code == MPI_SUCCESS) {
        code = send_message(request, message);
    }
    if (code != MPI_SUCCESS) {
        ckpt_memory_free(message, size);
    }
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
    int code, position = 0;

    CKPT_CALL(code, Unpack, whole->stream + (size_t)partition * whole->size,
              (int)whole->size, &position, place(request, partition),
              (int)whole->count, CKPT_LOWER(request->datatype),
              CKPT_LOWER(MPI_COMM_SELF));
    return code;
}

/* Bytes from `offset` on are there: unpacks the partitions that they fill. */
static int fill(MPI_Request request, size_t offset, size_t size)
{
    struct ckpt_partitioned *whole = request->partitioned;
    int code = MPI_SUCCESS;

    while (size > 0 && code == MPI_SUCCESS) {
        const size_t partition = offset / whole->size;
        const size_t end = (partition + 1) * whole->size;
        const size_t part = size < end - offset ? size : end - offset;

        whole->filled[partition] += part;
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
    (void)ckpt_log_waiting(channel);
    for (entry = channel->log_first; entry != NULL && !request->complete;
         entry = next) {
        const struct header *header = entry->data;

        next = entry->next;
        if (entry->arrival == NULL && /* else it is not all here */
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
