/* SPDX-License-Identifier: BSD-3-Clause */
/* unexpected.c - see unexpected.h. */
#include "unexpected.h"

#include "message.h"

#define STANDING 3 /* receives in the pool */

static struct operation pool[STANDING];

int unexpected_take(enum communicator comm, uint64_t random)
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
        receive = message_to_come(comm, 0);
        message_fetch(&receive, message, &found);
    }
    return is_there;
}

static void pool_post(struct operation *receive)
{
    *receive = message_to_come(POOL, NEVER);
    message_post(receive, (struct envelope){.peer = MPI_ANY_SOURCE,
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
            message_note(&pool[i], &status);
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
            message_note(&pool[i], &status);
        }
        free(pool[i].data);
    }
}
