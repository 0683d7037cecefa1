/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * patterns.c PATTERN [ROUNDS [PERIOD_US [BYTES]]] - the simulator's patterns of
 * communication, each a round that is repeated:
 *
 *   independent  compute
 *   ring         compute, send to the next rank, receive from the previous one
 *   all-to-all   compute, send to all others, receive from all others
 *   wildcard     rank 0 answers whichever rank has sent; others compute, send
 *                to
 *                rank 0 and wait for the answer
 *   collective   compute, a collective of all ranks
 *
 * To compute means to sleep here, PERIOD_US on average, so that many ranks on
 * few processors behave like ranks with one processor each. After the first
 * round there is a barrier, and then the line "begun": each channel of the
 * pattern has been used. The content of a message follows from sender, receiver
 * and round.
 */
#include "selfcheck.h"

#include <time.h>

#define MAX_RANKS 64
#define IMBALANCE 0.2   /* range of a period, as a fraction */
#define LINE_US   20000 /* minimum time between two lines of progress output */

enum {
    TAG_MESSAGE = 1,
    TAG_ANSWER
};

static int rank, size, bytes;
static long period_us;
static unsigned char *outgoing, *incoming[MAX_RANKS];

static uint64_t key_of(int from, int to, uint64_t round)
{
    return mix4((uint64_t)from, (uint64_t)to, round, (uint64_t)bytes);
}

static void compute(uint64_t round)
{
    double part = fraction_of(mix4((uint64_t)rank, round, 1, 0));
    double us = (double)period_us * (1 + IMBALANCE * (part - 0.5));
    struct timespec left = {(time_t)(us / 1e6), (long)(us * 1e3) % 1000000000};

    while (nanosleep(&left, &left) != 0) {
    }
}

static uint64_t check(const unsigned char *data, const MPI_Status *status,
                      int to, uint64_t round)
{
    uint64_t key = key_of(status->MPI_SOURCE, to, round);
    int count;

    MPI_Get_count(status, MPI_BYTE, &count);
    CHECK(count == bytes);
    CHECK(is_filled(data, (size_t)bytes, key));
    return key;
}

/* ---- Rounds; each returns what to add to the answer ---------------------- */

static uint64_t independent(uint64_t round)
{
    compute(round);
    return mix4((uint64_t)rank, round, 2, 0);
}

static uint64_t ring(uint64_t round)
{
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Request request;
    MPI_Status status;

    compute(round);
    fill(outgoing, (size_t)bytes, key_of(rank, next, round));
    MPI_Isend(outgoing, bytes, MPI_BYTE, next, TAG_MESSAGE, MPI_COMM_WORLD,
              &request);
    MPI_Recv(incoming[0], bytes, MPI_BYTE, before, TAG_MESSAGE, MPI_COMM_WORLD,
             &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return check(incoming[0], &status, rank, round);
}

static uint64_t all_to_all(uint64_t round)
{
    static MPI_Request requests[2 * MAX_RANKS];
    static MPI_Status statuses[2 * MAX_RANKS];
    const int others = size - 1;
    uint64_t sum = 0;

    compute(round);
    for (int i = 0; i < others; i++) {
        int to = (rank + 1 + i) % size, from = (rank + size - 1 - i) % size;
        unsigned char *data = outgoing + (size_t)i * (size_t)bytes;

        fill(data, (size_t)bytes, key_of(rank, to, round));
        MPI_Irecv(incoming[i], bytes, MPI_BYTE, from, TAG_MESSAGE,
                  MPI_COMM_WORLD, &requests[i]);
        MPI_Isend(data, bytes, MPI_BYTE, to, TAG_MESSAGE, MPI_COMM_WORLD,
                  &requests[others + i]);
    }
    MPI_Waitall(2 * others, requests, statuses);
    for (int i = 0; i < others; i++) {
        sum += check(incoming[i], &statuses[i], rank, round);
    }
    return sum;
}

/* Sends as many answers as there are other ranks. A fast rank may get two of
 * them while a slow one gets none, so the round is the asking rank's. */
static void answer_others(void)
{
    for (int i = 1; i < size; i++) {
        MPI_Status status;

        MPI_Recv(incoming[0], bytes, MPI_BYTE, MPI_ANY_SOURCE, TAG_MESSAGE,
                 MPI_COMM_WORLD, &status);
        MPI_Send(incoming[0], bytes, MPI_BYTE, status.MPI_SOURCE, TAG_ANSWER,
                 MPI_COMM_WORLD);
    }
}

static uint64_t wildcard(uint64_t round)
{
    const uint64_t key = key_of(rank, 0, round);

    if (rank == 0) {
        answer_others();
        return 0;
    }
    compute(round);
    fill(outgoing, (size_t)bytes, key);
    MPI_Send(outgoing, bytes, MPI_BYTE, 0, TAG_MESSAGE, MPI_COMM_WORLD);
    MPI_Recv(incoming[0], bytes, MPI_BYTE, 0, TAG_ANSWER, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    CHECK(is_filled(incoming[0], (size_t)bytes, key));
    return key;
}

static uint64_t collective(uint64_t round)
{
    uint64_t mine = (uint64_t)rank * (round + 1), sum;
    const uint64_t ranks = (uint64_t)size;

    compute(round);
    MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == ranks * (ranks - 1) / 2 * (round + 1));
    return mix(sum);
}

/* ---- The program --------------------------------------------------------- */

static const struct {
    const char *name;
    uint64_t (*round)(uint64_t round);
} patterns[] = {
    {"independent", independent},
    {"ring", ring},
    {"all-to-all", all_to_all},
    {"wildcard", wildcard},
    {"collective", collective},
};

static int find_pattern(const char *name)
{
    const int count = (int)(sizeof patterns / sizeof patterns[0]);
    int i = 0;

    while (i < count && strcmp(patterns[i].name, name) != 0) {
        i++;
    }
    CHECK(i < count);
    return i;
}

static void reserve(void)
{
    outgoing = malloc((size_t)bytes * (size_t)size);
    CHECK(outgoing != NULL);
    for (int i = 0; i < size; i++) {
        incoming[i] = malloc((size_t)bytes);
        CHECK(incoming[i] != NULL);
    }
}

static void tell(uint64_t round)
{
    const uint64_t every = 1 + (uint64_t)(LINE_US / (period_us + 1));

    if (rank == 0 && round % every == 0) {
        printf("step %" PRIu64 "\n", round);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    uint64_t sum = 0, rounds;
    int pattern;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= MAX_RANKS && argc > 1);
    pattern = find_pattern(argv[1]);
    rounds = (uint64_t)number_argument(argc, argv, 2, 1000);
    period_us = number_argument(argc, argv, 3, 1000);
    bytes = (int)number_argument(argc, argv, 4, 1024);
    CHECK(period_us >= 0 && bytes > 0);
    reserve();

    for (uint64_t round = 0; round < rounds; round++) {
        sum += patterns[pattern].round(round);
        if (round == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank == 0) {
                printf("begun\n");
                fflush(stdout);
            }
        }
        tell(round);
    }

    print_answer(sum);
    MPI_Finalize();
    return 0;
}
