/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * multiple.c [STEPS [THREADS [STOP_FILE]]] - many threads in MPI at once
 * (MPI_THREAD_MULTIPLE): messages, probes, collectives, new communicators;
 * until the steps are done, or until the file exists if one is given.
 *
 * Each thread does its steps together with its counterparts in the other ranks.
 * They use their own communicator, or their own tags on MPI_COMM_WORLD.
 * Different threads do not synchronise. Now and then all threads end, and new
 * ones start.
 */
#include "selfcheck.h"

#include <pthread.h>
#include <unistd.h>

#define THREADS_MAX    64
#define STEPS_PER_LIFE 100 /* of a thread */
#define STEPS_PER_LINE 50
#define LARGE          30000 /* words: does not fit into an eager message */

struct worker {
    pthread_t thread;
    int index;
    long first, end; /* steps */
    MPI_Comm comm;
    MPI_Op op;
    uint64_t sum;
    uint64_t out[LARGE], in[LARGE];
};

static struct worker workers[THREADS_MAX];
static int rank, size, next, previous;

/* Returns the word that this thread's counterpart in rank `from` sends in a
 * step. */
static uint64_t word_of(const struct worker *worker, long step, int from)
{
    return mix4((uint64_t)step, (uint64_t)worker->index, (uint64_t)from, 3);
}

static void ring(struct worker *worker, long step)
{
    uint64_t out = word_of(worker, step, rank), in = 0;

    MPI_Sendrecv(&out, 1, MPI_UINT64_T, next, 1, &in, 1, MPI_UINT64_T, previous,
                 1, worker->comm, MPI_STATUS_IGNORE);
    CHECK(in == word_of(worker, step, previous));
    worker->sum += in;
}

/* Finds a message by either kind of probe, then receives it. */
static void probed(struct worker *worker, long step)
{
    uint64_t out = word_of(worker, step, rank), in = 0;
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;

    MPI_Issend(&out, 1, MPI_UINT64_T, next, 2, worker->comm, &request);
    if (step % 2 == 0) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, worker->comm, &status);
        CHECK(status.MPI_SOURCE == previous && status.MPI_TAG == 2);
        MPI_Recv(&in, 1, MPI_UINT64_T, previous, 2, worker->comm, &status);
    } else {
        MPI_Mprobe(MPI_ANY_SOURCE, 2, worker->comm, &message, &status);
        MPI_Mrecv(&in, 1, MPI_UINT64_T, &message, &status);
    }
    CHECK(in == word_of(worker, step, previous));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    worker->sum += in;
}

/* Messages of all threads on one communicator, distinguished by their tags. */
static void shared(struct worker *worker, long step)
{
    const int tag = 100 + worker->index;
    MPI_Request requests[2];
    int done, count = 0, indices[2];

    worker->out[0] = word_of(worker, step, rank);
    worker->in[0] = 0;
    MPI_Irecv(worker->in, 1, MPI_UINT64_T, previous, tag, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Isend(worker->out, 1, MPI_UINT64_T, next, tag, MPI_COMM_WORLD,
              &requests[1]);
    while (count < 2) {
        if (step % 2 == 0) {
            MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
        } else {
            MPI_Testsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
        }
        count += done;
    }
    CHECK(worker->in[0] == word_of(worker, step, previous));
}

static void large(struct worker *worker, long step)
{
    const size_t bytes = sizeof worker->in;
    MPI_Request request;

    fill(worker->out, bytes, word_of(worker, step, rank));
    MPI_Irecv(worker->in, LARGE, MPI_UINT64_T, previous, 3, worker->comm,
              &request);
    MPI_Send(worker->out, LARGE, MPI_UINT64_T, next, 3, worker->comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(is_filled(worker->in, bytes, word_of(worker, step, previous)));
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    CHECK(*type == MPI_UINT64_T);
    for (int i = 0; i < *count; i++) {
        ((uint64_t *)inout)[i] += ((uint64_t *)in)[i];
    }
}

static void collectives(struct worker *worker, long step)
{
    const int root = (int)(step % size);
    uint64_t mine = word_of(worker, step, rank), all = 0, expected = 0;

    for (int i = 0; i < size; i++) {
        expected += word_of(worker, step, i);
    }
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T,
                  step % 3 == 0 ? MPI_SUM : worker->op, worker->comm);
    CHECK(all == expected);
    MPI_Bcast(&mine, 1, MPI_UINT64_T, root, worker->comm);
    CHECK(mine == word_of(worker, step, root));
    MPI_Allgather(&all, 1, MPI_UINT64_T, worker->in, 1, MPI_UINT64_T,
                  worker->comm);
    CHECK(worker->in[size - 1] == expected);
    MPI_Barrier(worker->comm);
    worker->sum += all;
}

/* Makes a communicator and uses it; the threads do so at different times. */
static void communicator(struct worker *worker, long step)
{
    uint64_t mine = word_of(worker, step, rank), all = 0, expected = mine;
    MPI_Comm made;

    if (step % 2 == 0) {
        MPI_Comm_dup(worker->comm, &made);
    } else {
        MPI_Comm_split(worker->comm, 0, size - rank, &made);
    }
    MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, made);
    MPI_Bcast(&all, 1, MPI_UINT64_T, 0, made);
    for (int i = 0; i < size; i++) {
        expected ^= i == rank ? 0 : word_of(worker, step, i);
    }
    CHECK(all == expected);
    MPI_Comm_free(&made);
}

static void *work(void *argument)
{
    static void (*const actions[])(struct worker *, long) = {
        ring,
        probed,
        collectives,
        shared,
        ring,
        large,
        communicator,
        shared,
    };
    const uint64_t count = sizeof actions / sizeof actions[0];
    struct worker *worker = argument;
    int is_main = 1;

    MPI_Is_thread_main(&is_main);
    CHECK(!is_main);
    for (long step = worker->first; step < worker->end; step++) {
        if (rank == 0 && worker->index == 0 && step % STEPS_PER_LINE == 0) {
            printf("step %ld\n", step);
            fflush(stdout);
        }
        actions[mix4((uint64_t)step, (uint64_t)worker->index, 0, 1) % count](
            worker, step);
    }
    return NULL;
}

static void live_once(int count, long first, long end)
{
    for (int i = 0; i < count; i++) {
        workers[i].first = first;
        workers[i].end = end;
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(workers[i].thread, NULL);
    }
}

int main(int argc, char **argv)
{
    const long steps = number_argument(argc, argv, 1, 1000);
    const int count = (int)number_argument(argc, argv, 2, 6);
    const char *stop_file = argc > 3 ? argv[3] : NULL;
    int provided, seen;
    uint64_t sum = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Query_thread(&seen);
    CHECK(provided == MPI_THREAD_MULTIPLE && seen == provided);
    CHECK(count >= 1 && count <= THREADS_MAX);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    for (int i = 0; i < count; i++) {
        workers[i].index = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
        MPI_Op_create(add, 1, &workers[i].op);
    }
    for (long step = 0; has_another_step((uint64_t)step, steps, stop_file);
         step += STEPS_PER_LIFE) {
        const long end = step + STEPS_PER_LIFE;

        live_once(count, step, stop_file != NULL || end < steps ? end : steps);
    }
    for (int i = 0; i < count; i++) {
        sum += workers[i].sum;
    }
    print_answer(stop_file == NULL ? sum : (uint64_t)rank);
    MPI_Finalize();
    return 0;
}
