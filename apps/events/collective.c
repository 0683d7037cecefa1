/* SPDX-License-Identifier: BSD-3-Clause */
/* collective.c - see collective.h. */
#include "collective.h"

#include "pending.h"

static uint64_t entered[COMMUNICATORS];

static void note(enum event_kind kind, const struct operation *operation,
                 const uint64_t *clock)
{
    log_event((struct event){.kind = kind,
                             .peer = operation->root,
                             .comm = (int32_t)operation->comm,
                             .number = operation->number},
              clock);
}

/* Merges all clocks that a member has received, whatever their number. */
static void leave(const struct operation *operation, const MPI_Status *status)
{
    uint64_t *clocks = operation->data, joined[MAX_RANKS] = {0};

    (void)status;
    for (int i = 0; i < operation->rows * world_size; i++) {
        uint64_t *entry = &joined[i % world_size];

        *entry = clocks[i] > *entry ? clocks[i] : *entry;
    }
    note(EVENT_LEFT, operation, joined);
}

/* Logs the entry; returns the operation, with room for the received clocks. */
static struct operation enter(enum communicator comm, int root, int rows)
{
    struct operation operation = {.done = leave, .comm = comm, .root = root};
    size_t bytes = (size_t)rows * MAX_RANKS * sizeof(uint64_t);

    operation.rows = rows;
    operation.number = entered[comm]++;
    operation.data = malloc(bytes);
    CHECK(operation.data != NULL);
    note(EVENT_ENTERED, &operation, NULL);
    memcpy(operation.data, log_clock(), (size_t)world_size * sizeof(uint64_t));
    return operation;
}

void collective_all(enum communicator comm, enum collective_way way,
                    uint64_t due)
{
    struct operation operation;
    int members;

    MPI_Comm_size(comms[comm], &members);
    operation = enter(comm, -1, way == ALLGATHER ? members : 1);
    operation.due = due;
    switch (way) {
    case ALLREDUCE:
        MPI_Allreduce(MPI_IN_PLACE, operation.data, world_size, MPI_UINT64_T,
                      MPI_MAX, comms[comm]);
        break;
    case ALLGATHER:
        MPI_Allgather(log_clock(), world_size, MPI_UINT64_T, operation.data,
                      world_size, MPI_UINT64_T, comms[comm]);
        break;
    default:
        MPI_Iallreduce(MPI_IN_PLACE, operation.data, world_size, MPI_UINT64_T,
                       MPI_MAX, comms[comm], &operation.request);
        pending_add(&operation);
        return;
    }
    leave(&operation, MPI_STATUS_IGNORE);
    free(operation.data);
}

uint64_t collective_from(enum communicator comm, int root, uint64_t word)
{
    struct operation operation = enter(comm, root, 1);
    uint64_t buffer[MAX_RANKS + 1];
    size_t bytes = (size_t)world_size * sizeof *buffer;

    memcpy(buffer, operation.data, bytes);
    buffer[world_size] = word;
    MPI_Bcast(buffer, world_size + 1, MPI_UINT64_T, rank_within(comm, root),
              comms[comm]);
    memcpy(operation.data, buffer, bytes);
    leave(&operation, MPI_STATUS_IGNORE);
    free(operation.data);
    return buffer[world_size];
}

void collective_from_later(enum communicator comm, int root, uint64_t due)
{
    struct operation operation = enter(comm, root, 1);

    operation.due = due;
    MPI_Ibcast(operation.data, world_size, MPI_UINT64_T,
               rank_within(comm, root), comms[comm], &operation.request);
    pending_add(&operation);
}
