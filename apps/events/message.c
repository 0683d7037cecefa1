/* SPDX-License-Identifier: BSD-3-Clause */
/* message.c - see message.h. */
#include "message.h"

struct header {
    uint64_t number;
    int32_t from, to, comm, tag;
    int32_t bytes; /* of all */
    int32_t zero;
    uint64_t clock[MAX_RANKS];
};

static uint64_t sent[COMMUNICATORS][MAX_RANKS][TAGS];
static uint64_t received[COMMUNICATORS];
static uint64_t posted; /* receives */

static uint64_t content_of(const struct header *header)
{
    return mix4((uint64_t)header->from, (uint64_t)header->to,
                (uint64_t)(header->comm * TAGS + header->tag), header->number);
}

/* Makes a message, and logs it as sent. */
static struct header *compose(struct envelope to)
{
    size_t bytes = sizeof(struct header) + (size_t)to.extra;
    struct header *header = malloc(bytes);

    CHECK(header != NULL && bytes <= LARGEST_MESSAGE);
    *header = (struct header){
        .number = sent[to.comm][to.peer][to.tag]++,
        .from = world_rank,
        .to = to.peer,
        .comm = (int32_t)to.comm,
        .tag = to.tag,
        .bytes = (int32_t)bytes,
    };
    fill(header + 1, (size_t)to.extra, content_of(header));
    log_event((struct event){.kind = EVENT_SENT,
                             .peer = to.peer,
                             .comm = header->comm,
                             .tag = to.tag,
                             .number = header->number,
                             .bytes = (uint32_t)bytes},
              NULL);
    memcpy(header->clock, log_clock(), (size_t)world_size * sizeof(uint64_t));
    return header;
}

static int is_as_sent(const struct header *header, enum communicator comm,
                      const MPI_Status *status, int bytes)
{
    return bytes >= (int)sizeof *header && header->bytes == bytes &&
           header->from == rank_in_world(comm, status->MPI_SOURCE) &&
           header->to == world_rank && header->comm == (int32_t)comm &&
           header->tag == status->MPI_TAG &&
           is_filled(header + 1, (size_t)bytes - sizeof *header,
                     content_of(header));
}

void message_note(const struct operation *receive, const MPI_Status *status)
{
    const struct header *header = receive->data;
    int bytes, good;

    MPI_Get_count(status, MPI_BYTE, &bytes);
    good = is_as_sent(header, receive->comm, status, bytes);
    received[receive->comm]++;
    log_event(
        (struct event){.kind = EVENT_RECEIVED,
                       .peer = rank_in_world(receive->comm, status->MPI_SOURCE),
                       .comm = (int32_t)receive->comm,
                       .tag = status->MPI_TAG,
                       .number = header->number,
                       .order = receive->order,
                       .bytes = (uint32_t)bytes,
                       .damaged = !good},
        good ? header->clock : NULL);
}

static void test_until_complete(MPI_Request *request, MPI_Status *status)
{
    int complete = 0;

    while (!complete) {
        MPI_Test(request, &complete, status);
    }
}

void message_send(struct envelope to, enum send_way way, uint64_t due)
{
    struct operation operation = {.due = due, .comm = to.comm};
    struct header *header = compose(to);
    int rank = rank_within(to.comm, to.peer);
    MPI_Comm comm = comms[to.comm];

    operation.data = header;
    switch (way) {
    case SEND:
        MPI_Send(header, header->bytes, MPI_BYTE, rank, to.tag, comm);
        break;
    case SSEND:
        MPI_Ssend(header, header->bytes, MPI_BYTE, rank, to.tag, comm);
        break;
    case ISEND_TESTED:
        MPI_Isend(header, header->bytes, MPI_BYTE, rank, to.tag, comm,
                  &operation.request);
        test_until_complete(&operation.request, MPI_STATUS_IGNORE);
        break;
    case ISSEND:
        MPI_Issend(header, header->bytes, MPI_BYTE, rank, to.tag, comm,
                   &operation.request);
        pending_add(&operation);
        return;
    default:
        MPI_Isend(header, header->bytes, MPI_BYTE, rank, to.tag, comm,
                  &operation.request);
        pending_add(&operation);
        return;
    }
    free(header);
}

struct operation message_to_come(enum communicator comm, uint64_t due)
{
    struct operation operation = {.due = due, .comm = comm};

    operation.data = malloc(LARGEST_MESSAGE);
    CHECK(operation.data != NULL);
    operation.done = message_note;
    operation.order = ++posted;
    return operation;
}

/* Probes until a message is found, matched or not, by blocking or by
 * polling. */
static MPI_Message probe(struct envelope from, enum receive_way way,
                         MPI_Status *status)
{
    int rank = rank_within(from.comm, from.peer), found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Comm comm = comms[from.comm];

    switch (way) {
    case PROBE:
        MPI_Probe(rank, from.tag, comm, status);
        break;
    case MPROBE:
    case IMRECV:
        MPI_Mprobe(rank, from.tag, comm, &message, status);
        break;
    case IPROBE:
        while (!found) {
            MPI_Iprobe(rank, from.tag, comm, &found, status);
        }
        break;
    default:
        while (!found) {
            MPI_Improbe(rank, from.tag, comm, &found, &message, status);
        }
        break;
    }
    return message;
}

void message_fetch(struct operation *receive, MPI_Message message,
                   const MPI_Status *found)
{
    MPI_Status status;

    if (message == MPI_MESSAGE_NULL) {
        MPI_Recv(receive->data, LARGEST_MESSAGE, MPI_BYTE, found->MPI_SOURCE,
                 found->MPI_TAG, comms[receive->comm], &status);
    } else {
        MPI_Mrecv(receive->data, LARGEST_MESSAGE, MPI_BYTE, &message, &status);
    }
    message_note(receive, &status);
    free(receive->data);
}

static void receive_probed(struct envelope from, enum receive_way way,
                           uint64_t due)
{
    MPI_Status found;
    MPI_Message message = probe(from, way, &found);
    struct operation receive = message_to_come(from.comm, due);

    if (way == IMRECV) {
        MPI_Imrecv(receive.data, LARGEST_MESSAGE, MPI_BYTE, &message,
                   &receive.request);
        pending_add(&receive);
    } else {
        message_fetch(&receive, message, &found);
    }
}

void message_post(struct operation *receive, struct envelope from)
{
    MPI_Irecv(receive->data, LARGEST_MESSAGE, MPI_BYTE,
              rank_within(from.comm, from.peer), from.tag, comms[from.comm],
              &receive->request);
}

void message_receive(struct envelope from, enum receive_way way, uint64_t due)
{
    struct operation receive;
    MPI_Status status;

    if (way != RECV && way != IRECV && way != IRECV_TESTED) {
        receive_probed(from, way, due);
        return;
    }
    receive = message_to_come(from.comm, due);
    if (way == RECV) {
        MPI_Recv(receive.data, LARGEST_MESSAGE, MPI_BYTE,
                 rank_within(from.comm, from.peer), from.tag, comms[from.comm],
                 &status);
    } else {
        message_post(&receive, from);
        if (way == IRECV) {
            pending_add(&receive);
            return;
        }
        test_until_complete(&receive.request, &status);
    }
    message_note(&receive, &status);
    free(receive.data);
}

uint64_t messages_sent(enum communicator comm, int to)
{
    uint64_t sum = 0;

    for (int tag = 0; tag < TAGS; tag++) {
        sum += sent[comm][to][tag];
    }
    return sum;
}

uint64_t messages_received(enum communicator comm)
{
    return received[comm];
}
