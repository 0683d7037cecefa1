/* SPDX-License-Identifier: BSD-3-Clause */
/* pending.c - see pending.h. */
#include "pending.h"

#define MOST 128

static struct operation table[MOST]; /* oldest first */
static int count;

void pending_add(const struct operation *operation)
{
    CHECK(count < MOST);
    table[count++] = *operation;
}

static void finish(struct operation *operation, const MPI_Status *status)
{
    if (operation->done != NULL) {
        operation->done(operation, status);
    }
    free(operation->data);
}

/* Waits for one at a time, from the oldest or from the youngest. */
static void wait_for_each(struct operation *chosen, int number, int backwards)
{
    for (int i = 0; i < number; i++) {
        struct operation *next = &chosen[backwards ? number - 1 - i : i];
        MPI_Status status;

        MPI_Wait(&next->request, &status);
        finish(next, &status);
    }
}

static void wait_for_all(struct operation *chosen, MPI_Request *requests,
                         int number)
{
    MPI_Status statuses[MOST];

    MPI_Waitall(number, requests, statuses);
    for (int i = 0; i < number; i++) {
        finish(&chosen[i], &statuses[i]);
    }
}

static void wait_for_any(struct operation *chosen, MPI_Request *requests,
                         int number)
{
    for (int left = number; left > 0; left--) {
        MPI_Status status;
        int at;

        MPI_Waitany(number, requests, &at, &status);
        finish(&chosen[at], &status);
    }
}

/* Completes some at a time: by waits, or by repeated tests. */
static void wait_for_some(struct operation *chosen, MPI_Request *requests,
                          int number, int by_tests)
{
    MPI_Status statuses[MOST];
    int indices[MOST], some;

    for (int left = number; left > 0; left -= some) {
        if (by_tests) {
            MPI_Testsome(number, requests, &some, indices, statuses);
        } else {
            MPI_Waitsome(number, requests, &some, indices, statuses);
        }
        for (int i = 0; i < some; i++) {
            finish(&chosen[indices[i]], &statuses[i]);
        }
    }
}

static void complete(struct operation *chosen, int number, uint64_t random)
{
    MPI_Request requests[MOST];

    for (int i = 0; i < number; i++) {
        requests[i] = chosen[i].request;
    }
    switch (random % 6) {
    case 0:
        wait_for_all(chosen, requests, number);
        break;
    case 1:
        wait_for_any(chosen, requests, number);
        break;
    case 2:
    case 3:
        wait_for_some(chosen, requests, number, random % 2 == 0);
        break;
    default:
        wait_for_each(chosen, number, random % 2 == 0);
    }
}

/* Takes the operations that the other arguments select out of the table. */
static void complete_chosen(uint64_t before, int comm, int most,
                            uint64_t random)
{
    struct operation chosen[MOST];
    int number = 0, kept = 0;

    for (int i = 0; i < count; i++) {
        if (number < most && table[i].due < before &&
            (comm == COMMUNICATORS || (int)table[i].comm == comm)) {
            chosen[number++] = table[i];
        } else {
            table[kept++] = table[i];
        }
    }
    count = kept;
    if (number > 0) {
        complete(chosen, number, random);
    }
}

void pending_complete(uint64_t act, int room, uint64_t random)
{
    complete_chosen(act + 1, COMMUNICATORS, MOST, random);
    if (count + room > MOST) {
        complete_chosen(NEVER, COMMUNICATORS, count + room - MOST, random);
    }
}

void pending_complete_on(enum communicator comm, uint64_t random)
{
    complete_chosen(NEVER, (int)comm, MOST, random);
}

void pending_complete_all(uint64_t random)
{
    complete_chosen(NEVER, COMMUNICATORS, MOST, random);
}

int pending_test_undue(void)
{
    int kept = 0, undue = 0;

    for (int i = 0; i < count; i++) {
        MPI_Status status;
        int complete = 0;

        if (table[i].due == NEVER) {
            MPI_Test(&table[i].request, &complete, &status);
        }
        if (complete) {
            finish(&table[i], &status);
            continue;
        }
        undue += table[i].due == NEVER;
        table[kept++] = table[i];
    }
    count = kept;
    return undue;
}
