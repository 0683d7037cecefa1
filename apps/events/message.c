/* SPDX-License-Identifier: BSD-3-Clause */
/* message.c - see message.h. */
#include "message.h"

#include "pending.h"

#define LARGEST  (1 << 17) /* bytes of a message */
#define STANDING 3         /* receives in the pool */

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
static struct operation pool[STANDING];

static uint64_t content_of(const struct header *header)
{
    return mix4((uint64_t)header->from, (uint64_t)header->to,
                (uint64_t)(header->comm * TAGS + header->tag), header->number);
}

/* A message, which is logged as sent. */
static struct header *compose(struct envelope to)
{
    size_t bytes = sizeof(struct header) + (size_t)to.extra;
    struct header *header = malloc(bytes);

    CHECK(header != NULL && bytes <= LARGEST);
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

/* Logs a message that has arrived. */
static void note_receipt(const struct operation *receive,
                         const MPI_Status *status)
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

static struct operation new_receive(enum communicator comm, uint64_t due)
{
    struct operation operation = {.due = due, .comm = comm};

    operation.data = malloc(LARGEST);
    CHECK(operation.data != NULL);
    operation.done = note_receipt;
    operation.order = ++posted;
    return operation;
}

/* A probe that finds a message, matched or not, waiting or again and again. */
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

/* Receives what a probe has found. */
static void receive_found(struct operation *receive, MPI_Message message,
                          const MPI_Status *found)
{
    MPI_Status status;

    if (message == MPI_MESSAGE_NULL) {
        MPI_Recv(receive->data, LARGEST, MPI_BYTE, found->MPI_SOURCE,
                 found->MPI_TAG, comms[receive->comm], &status);
    } else {
        MPI_Mrecv(receive->data, LARGEST, MPI_BYTE, &message, &status);
    }
    note_receipt(receive, &status);
    free(receive->data);
}

static void receive_probed(struct envelope from, enum receive_way way,
                           uint64_t due)
{
    MPI_Status found;
    MPI_Message message = probe(from, way, &found);
    struct operation receive = new_receive(from.comm, due);

    if (way == IMRECV) {
        MPI_Imrecv(receive.data, LARGEST, MPI_BYTE, &message, &receive.request);
        pending_add(&receive);
    } else {
        receive_found(&receive, message, &found);
    }
}

static void post(struct operation *receive, struct envelope from)
{
    MPI_Irecv(receive->data, LARGEST, MPI_BYTE,
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
    receive = new_receive(from.comm, due);
    if (way == RECV) {
        MPI_Recv(receive.data, LARGEST, MPI_BYTE,
                 rank_within(from.comm, from.peer), from.tag, comms[from.comm],
                 &status);
    } else {
        post(&receive, from);
        if (way == IRECV) {
            pending_add(&receive);
            return;
        }
        test_until_complete(&receive.request, &status);
    }
    note_receipt(&receive, &status);
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

int message_take(enum communicator comm, uint64_t random)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    struct operation receive;
    MPI_Status found;
    int is_there;

    if (random % 2 == 0) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[comm], &is_there, &found);
    } else {
        MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[comm], &is_there,
                    &message, &found);
    }
    if (is_there) {
        receive = new_receive(comm, 0);
        receive_found(&receive, message, &found);
    }
    return is_there;
}

static void pool_post(struct operation *receive)
{
    *receive = new_receive(POOL, NEVER);
    post(receive, (struct envelope){.peer = MPI_ANY_SOURCE,
                                    .comm = POOL,
                                    .tag = MPI_ANY_TAG});
}

void pool_open(void)
{
    for (int i = 0; i < STANDING; i++) {
        pool_post(&pool[i]);
    }
}

void pool_test(void)
{
    for (int i = 0; i < STANDING; i++) {
        MPI_Status status;
        int complete;

        MPI_Test(&pool[i].request, &complete, &status);
        if (complete) {
            note_receipt(&pool[i], &status);
            free(pool[i].data);
            pool_post(&pool[i]);
        }
    }
}

void pool_close(void)
{
    for (int i = 0; i < STANDING; i++) {
        MPI_Status status;
        int withdrawn;

        MPI_Cancel(&pool[i].request);
        MPI_Wait(&pool[i].request, &status);
        MPI_Test_cancelled(&status, &withdrawn);
        if (!withdrawn) {
            note_receipt(&pool[i], &status);
        }
        free(pool[i].data);
    }
}
