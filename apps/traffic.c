/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * traffic.c [STEPS [STOP_FILE]] - ranks that exchange messages without a pause.
 *
 * Messages of 1 byte to 1 MiB flow between all pairs of ranks. The size and the
 * content of a message follow from its sender, receiver and number in their
 * stream. So the program detects a lost, duplicated, reordered or damaged
 * message. With STEPS 0 it runs until STOP_FILE exists.
 */
#include "selfcheck.h"

#include <unistd.h>

#define NAMED          3 /* messages per peer and step from a named source */
#define MAX_RANKS      16
#define SMALL          5000 /* largest message of the wildcard stream, bytes */
#define STEPS_PER_LINE 64   /* of progress output */

enum {
    TAG_NAMED = 1,
    TAG_CONTROL,
    TAG_ANY,
    TAG_ANY_ODD
};

/* Sent to each peer at each step. */
struct control {
    uint64_t step;
    uint64_t last_step; /* UINT64_MAX: go on */
};

struct slot {
    unsigned char *data;
    size_t capacity; /* bytes */
};

struct peer {
    struct slot sent[NAMED];
    struct slot received[NAMED];
    struct slot sent_any;
    struct slot received_any; /* from any peer */
    struct control control;
};

static struct peer peers[MAX_RANKS];
static int rank, size;

static uint64_t key_of(int from, int to, int tag, uint64_t number)
{
    return mix4((uint64_t)from, (uint64_t)to, (uint64_t)tag, number);
}

/* Most messages are short, some take the rendezvous path, a few are large. */
static int bytes_of(uint64_t key, int tag)
{
    static const int sizes[] = {1, 2, 8, 100, 1000, 4000,
                                4096, 4200, 5000, 1, 20000, 65536,
                                100000, 262144, 8, 1048576};
    int bytes = sizes[key % 16];

    return tag == TAG_ANY && bytes > SMALL ? SMALL : bytes;
}

/* The wildcard stream has a tag for even and one for odd steps. Otherwise a
 * peer that is a step ahead could match the receive meant for a slower peer.
 * Two such ranks would then wait for each other's next receive for ever. */
static int mpi_tag(int tag, uint64_t number)
{
    return tag == TAG_ANY && number % 2 != 0 ? TAG_ANY_ODD : tag;
}

static unsigned char *reserve(struct slot *slot, int bytes)
{
    if (slot->capacity < (size_t)bytes) {
        free(slot->data);
        slot->data = malloc((size_t)bytes);
        CHECK(slot->data != NULL);
        slot->capacity = (size_t)bytes;
    }
    return slot->data;
}

static void send(struct slot *slot, int to, int tag, uint64_t number,
                 MPI_Request *request)
{
    uint64_t key = key_of(rank, to, tag, number);
    int bytes = bytes_of(key, tag);

    fill(reserve(slot, bytes), (size_t)bytes, key);
    MPI_Isend(slot->data, bytes, MPI_BYTE, to, mpi_tag(tag, number),
              MPI_COMM_WORLD, request);
}

/* Posts a receive with room for one byte more than expected, to detect a
 * message that is too long. */
static void receive(struct slot *slot, int from, int tag, uint64_t number,
                    MPI_Request *request)
{
    int bytes =
        tag == TAG_ANY ? SMALL : bytes_of(key_of(from, rank, tag, number), tag);

    MPI_Irecv(reserve(slot, bytes + 1), bytes + 1, MPI_BYTE, from,
              mpi_tag(tag, number), MPI_COMM_WORLD, request);
}

static uint64_t check_message(const struct slot *slot, int from, int tag,
                              uint64_t number, const MPI_Status *status)
{
    uint64_t key = key_of(from, rank, tag, number);
    int bytes;

    MPI_Get_count(status, MPI_BYTE, &bytes);
    CHECK(status->MPI_SOURCE == from);
    CHECK(status->MPI_TAG == mpi_tag(tag, number));
    CHECK(bytes == bytes_of(key, tag));
    CHECK(is_filled(slot->data, (size_t)bytes, key));
    return key;
}

/* Runs one step: everything with every peer at once. Returns the step's
 * contribution to the answer; lowers *last_step to the peers' value. */
static uint64_t exchange(uint64_t step, uint64_t *last_step)
{
    enum {
        PER_PEER = 2 * (NAMED + 2)
    };
    static MPI_Request requests[MAX_RANKS * PER_PEER];
    static MPI_Status statuses[MAX_RANKS * PER_PEER];
    static struct control mine;
    uint64_t first = step * NAMED;
    uint64_t sum = 0;
    int count = 0, at = 0;

    mine = (struct control){step, *last_step};
    for (int p = (rank + 1) % size; p != rank; p = (p + 1) % size) {
        struct peer *peer = &peers[p];

        for (int k = 0; k < NAMED; k++) {
            receive(&peer->received[k], p, TAG_NAMED, first + (uint64_t)k,
                    &requests[count++]);
        }
        receive(&peer->received_any, MPI_ANY_SOURCE, TAG_ANY, step,
                &requests[count++]);
        MPI_Irecv(&peer->control, sizeof mine, MPI_BYTE, p, TAG_CONTROL,
                  MPI_COMM_WORLD, &requests[count++]);
    }
    for (int p = (rank + 1) % size; p != rank; p = (p + 1) % size) {
        struct peer *peer = &peers[p];

        for (int k = 0; k < NAMED; k++) {
            send(&peer->sent[k], p, TAG_NAMED, first + (uint64_t)k,
                 &requests[count++]);
        }
        send(&peer->sent_any, p, TAG_ANY, step, &requests[count++]);
        MPI_Isend(&mine, sizeof mine, MPI_BYTE, p, TAG_CONTROL, MPI_COMM_WORLD,
                  &requests[count++]);
    }
    MPI_Waitall(count, requests, statuses);

    for (int p = (rank + 1) % size; p != rank; p = (p + 1) % size) {
        struct peer *peer = &peers[p];
        int from;

        for (int k = 0; k < NAMED; k++) {
            sum += check_message(&peer->received[k], p, TAG_NAMED,
                                 first + (uint64_t)k, &statuses[at++]);
        }
        from = statuses[at].MPI_SOURCE;
        sum += check_message(&peer->received_any, from, TAG_ANY, step,
                             &statuses[at]);
        at++;
        CHECK(peer->control.step == step);
        at++;
        if (peer->control.last_step < *last_step) {
            *last_step = peer->control.last_step;
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    uint64_t last_step = UINT64_MAX;
    uint64_t sum = 0;
    long steps;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= MAX_RANKS);
    steps = number_argument(argc, argv, 1, 1000);
    CHECK(steps > 0 || argc > 2);
    if (steps > 0) {
        last_step = (uint64_t)steps - 1;
    }

    for (uint64_t step = 0; step <= last_step; step++) {
        if (rank == 0 && step % STEPS_PER_LINE == 0) {
            printf("step %" PRIu64 "\n", step);
            fflush(stdout);
            /* One step is enough to inform all ranks. */
            if (steps == 0 && last_step == UINT64_MAX &&
                access(argv[2], F_OK) == 0) {
                last_step = step + 1;
            }
        }
        sum += exchange(step, &last_step);
    }

    print_answer(sum);
    MPI_Finalize();
    return 0;
}
