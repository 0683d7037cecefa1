/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * polled.c ROUNDS - rank 0 tests the same array of receives again and again.
 *
 * Half of them are persistent: in each round the array has the same handles for these, and other
 * requests in the MPI library. Some elements are MPI_REQUEST_NULL. Rank 1 sends only after rank 0
 * has made unsuccessful tests for a while.
 */
#include "selfcheck.h"

#include "step_line.h"

#include <stdlib.h>

#define PART    40
#define COUNT   (3 * PART) /* persistent, ordinary, null */
#define IN_VAIN 3000       /* unsuccessful tests of each kind */
#define GO      COUNT      /* the tag of rank 0's message */

static MPI_Request requests[COUNT];
static long value[COUNT];
static int seen[COUNT];

static void post_receives(void)
{
    MPI_Startall(PART, requests);
    for (int i = PART; i < 2 * PART; i++) {
        MPI_Irecv(&value[i], 1, MPI_LONG, 1, i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < COUNT; i++) {
        seen[i] = 0;
    }
}

static void ask_in_vain(void)
{
    static MPI_Status statuses[COUNT];
    static int places[COUNT];
    int place, flag, count;

    for (int i = 0; i < IN_VAIN; i++) {
        MPI_Testany(COUNT, requests, &place, &flag, statuses);
        CHECK(!flag && place == MPI_UNDEFINED);
        MPI_Testall(COUNT, requests, &flag, statuses);
        CHECK(!flag);
        MPI_Testsome(COUNT, requests, &count, places, statuses);
        CHECK(count == 0);
    }
}

/* Tests until all are complete: one becomes complete at a time, while others are not. */
static uint64_t receive_all(long round)
{
    uint64_t sum = 0;
    MPI_Status status;
    int place, flag;

    for (int left = 2 * PART; left > 0;) {
        MPI_Testany(COUNT, requests, &place, &flag, &status);
        if (flag) {
            CHECK(place != MPI_UNDEFINED && !seen[place] && status.MPI_TAG == place);
            CHECK(value[place] == round * COUNT + place);
            seen[place] = 1;
            sum += (uint64_t)value[place];
            left--;
        }
    }
    return sum;
}

static uint64_t receive(long round)
{
    post_receives();
    ask_in_vain();
    MPI_Send(&round, 1, MPI_LONG, 1, GO, MPI_COMM_WORLD);
    return receive_all(round);
}

static void send(long round)
{
    long asked;

    MPI_Recv(&asked, 1, MPI_LONG, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(asked == round);
    for (int i = 0; i < 2 * PART; i++) {
        const int tag = (int)((i * 7 + round) % (2 * PART));
        const long number = round * COUNT + tag;

        MPI_Send(&number, 1, MPI_LONG, 0, tag, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 100;
    uint64_t sum = 0;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < COUNT; i++) {
        requests[i] = MPI_REQUEST_NULL;
        if (rank == 0 && i < PART) {
            MPI_Recv_init(&value[i], 1, MPI_LONG, 1, i, MPI_COMM_WORLD, &requests[i]);
        }
    }
    for (long round = 0; round < rounds || !job_may_end(); round++) {
        if (rank == 0) {
            const uint64_t received = receive(round);

            sum += round < rounds ? received : 0;
            print_step(round);
        } else if (rank == 1) {
            send(round);
        }
    }
    for (int i = 0; rank == 0 && i < PART; i++) {
        MPI_Request_free(&requests[i]);
    }
    print_answer(sum);
    return MPI_Finalize();
}
