/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nonblocking.c ROUNDS SEED - random nonblocking collectives on overlapping communicators.
 *
 * All ranks draw the same program from the seed: in each round, some ranks begin a random
 * collective on a random communicator. Each rank completes its collectives in its own random order,
 * and computes for a random time in between, so that the ranks are far apart. Blocking collectives,
 * messages, and duplications occur, too. Every result is checked. Rank 0 prints "step N".
 */
#include "collective_op.h"

#define COMMUNICATORS 6
#define MOST_PENDING  24

static int rank, size;
static uint64_t seed, drawn; /* by all ranks alike */
static uint64_t own;         /* by this rank only */
static MPI_Comm comm[COMMUNICATORS];
static int is_topology[COMMUNICATORS];
static struct collective_op pending[MOST_PENDING];
static int pending_count;
static uint64_t sum;

static int draw(int bound)
{
    return (int)(mix4(seed, ++drawn, 0, 0) % (uint64_t)bound);
}

static int draw_own(int bound)
{
    return (int)(mix4(seed, ++own, (uint64_t)rank, 1) % (uint64_t)bound);
}

static void compute(int amount)
{
    for (long i = 0; i < amount * 1000L; i++) {
        sum = mix(sum);
    }
}

/* Every rank is a member of the communicators 0 to 2; the others overlap. */
static void make_communicators(void)
{
    int periods[] = {0}, members = size / 2 + 1;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, periods, 0, &comm[2]);
    is_topology[2] = 1;
    MPI_Comm_split(MPI_COMM_WORLD, rank < members ? 0 : MPI_UNDEFINED, -rank,
                   &comm[3]);
    MPI_Comm_split(MPI_COMM_WORLD, size - rank <= members ? 0 : MPI_UNDEFINED,
                   rank, &comm[4]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm[5]);
}

/* Completes pending collective i. */
static void finish(int i)
{
    MPI_Wait(&pending[i].request, MPI_STATUS_IGNORE);
    collective_end(&pending[i]);
    pending[i] = pending[--pending_count];
}

static void finish_all(void)
{
    while (pending_count > 0) {
        finish(draw_own(pending_count));
    }
}

/* Tests whether one of the pending collectives is complete. */
static void look(void)
{
    int i = draw_own(pending_count), done;

    MPI_Test(&pending[i].request, &done, MPI_STATUS_IGNORE);
    if (done) {
        finish(i);
    }
}

static void begin(uint64_t round)
{
    const int which = draw(COMMUNICATORS);
    const int kinds = is_topology[which] ? ALL_COLLECTIVES : PLAIN_COLLECTIVES;
    const int what = draw(kinds), root = draw(1 << 20), in_place = draw(3) == 0;
    const int count = draw(8) == 0 ? draw(5000) : draw(20);
    int members;

    if (comm[which] == MPI_COMM_NULL) {
        return;
    }
    MPI_Comm_size(comm[which], &members);
    collective_begin(&pending[pending_count++], what, comm[which],
                     root % members, count, in_place, mix4(seed, round, 2, 0));
    if (pending_count == MOST_PENDING) {
        finish_all();
    }
}

static void block(void)
{
    const int which = draw(COMMUNICATORS), root = draw(1 << 20);
    const int broadcast = draw(2);
    int members, number = rank, result = 0;

    if (comm[which] == MPI_COMM_NULL) {
        return;
    }
    MPI_Comm_size(comm[which], &members);
    if (broadcast) {
        MPI_Bcast(&number, 1, MPI_INT, root % members, comm[which]);
    } else {
        MPI_Allreduce(&number, &result, 1, MPI_INT, MPI_SUM, comm[which]);
        CHECK(which > 2 || result == size * (size - 1) / 2);
    }
}

/* Sends a message to the next rank of the ring; the receiver waits. */
static void message(uint64_t round)
{
    const int tag = (int)(round % 1000);
    uint64_t number;
    MPI_Request request;

    MPI_Isend(&round, 1, MPI_UINT64_T, (rank + 1) % size, tag, comm[1], &request);
    MPI_Recv(&number, 1, MPI_UINT64_T, (rank + size - 1) % size, tag, comm[1],
             MPI_STATUS_IGNORE);
    CHECK(number == round);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Replaces communicator 0 by a duplicate. Open MPI 4.1 cannot free a communicator with a pending
 * collective. */
static void replace(void)
{
    MPI_Comm twin;
    MPI_Request request;

    MPI_Comm_idup(comm[0], &twin, &request);
    finish_all();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm[0]);
    comm[0] = twin;
}

static void play(uint64_t round)
{
    const int what = draw(16);

    if (what < 11) {
        begin(round);
    } else if (what < 13) {
        block();
    } else if (what < 15) {
        message(round);
    } else if (draw(4) == 0) {
        replace();
    }
    if (draw_own(6) == 0) {
        compute(draw_own(draw_own(8) == 0 ? 20000 : 300));
    }
    for (int i = draw_own(4); i > 0 && pending_count > 0; i--) {
        draw_own(4) == 0 ? finish(draw_own(pending_count)) : look();
    }
}

int main(int argc, char **argv)
{
    const uint64_t rounds = (uint64_t)number_argument(argc, argv, 1, 1000);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    seed = (uint64_t)number_argument(argc, argv, 2, 1);
    make_communicators();
    for (uint64_t round = 1; round <= rounds; round++) {
        play(round);
        if (rank == 0 && round % 50 == 0) {
            printf("step %" PRIu64 "\n", round);
            fflush(stdout);
        }
    }
    finish_all();
    for (int i = 0; i < COMMUNICATORS; i++) {
        if (comm[i] != MPI_COMM_NULL) {
            MPI_Comm_free(&comm[i]);
        }
    }
    print_answer((uint64_t)rank + rounds);
    MPI_Finalize();
    return 0;
}
