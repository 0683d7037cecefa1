/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls.c [REPETITIONS] - the 20 most used functions of MPI between marks, for count_instructions,
 * which runs rank 0 of two. Rank 1 does its part of a call before, so that rank 0 can complete its
 * call at once and does not poll.
 */
#include <mpi.h>

#include <stdlib.h>

#define TAG   1
#define BYTES 8

struct call {
    const char *name;
    void (*other)(void);  /* part of rank 1, or null */
    void (*before)(void); /* then of rank 0, or null */
    void (*it)(void);     /* of rank 0: the counted call */
    void (*after)(void);  /* of rank 0, or null */
};

static char out[2 * BYTES], in[2 * BYTES];
static double number = 1, sum;
static MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
static MPI_Status status;
static int other_rank, value;

#define CALL(name, ...)    \
    static void name(void) \
    {                      \
        __VA_ARGS__;       \
    }

#define WORLD   MPI_COMM_WORLD
#define MESSAGE BYTES, MPI_CHAR, other_rank, TAG

CALL(nothing, )
CALL(comm_rank, MPI_Comm_rank(WORLD, &value))
CALL(comm_size, MPI_Comm_size(WORLD, &value))
CALL(wtime, MPI_Wtime())
CALL(send_one, MPI_Send(out, MESSAGE, WORLD))
CALL(receive_one, MPI_Recv(in, MESSAGE, WORLD, &status))
CALL(probe, MPI_Iprobe(other_rank, TAG, WORLD, &value, &status))
CALL(get_count, MPI_Get_count(&status, MPI_CHAR, &value))
CALL(send_receive, MPI_Sendrecv(out, MESSAGE, in, MESSAGE, WORLD, &status))
CALL(begin_send, MPI_Isend(out, MESSAGE, WORLD, &requests[1]))
CALL(begin_receive, MPI_Irecv(in, MESSAGE, WORLD, &requests[0]))
CALL(begin_both, begin_receive(); begin_send())
CALL(wait_first, MPI_Wait(&requests[0], &status))
CALL(wait_second, MPI_Wait(&requests[1], &status))
CALL(wait_all, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE))
CALL(wait_any, MPI_Waitany(2, requests, &value, &status))
CALL(test, MPI_Test(&requests[0], &value, &status))
CALL(barrier, MPI_Barrier(WORLD))
CALL(broadcast, MPI_Bcast(out, BYTES, MPI_CHAR, 1, WORLD))
CALL(reduce, MPI_Reduce(&number, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, WORLD))
CALL(all_reduce, MPI_Allreduce(&number, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD))
CALL(all_gather,
     MPI_Allgather(out, BYTES, MPI_CHAR, in, BYTES, MPI_CHAR, WORLD))
CALL(all_to_all, MPI_Alltoall(out, BYTES, MPI_CHAR, in, BYTES, MPI_CHAR, WORLD))

static const struct call calls[] = {
    {"nothing", NULL, NULL, nothing, NULL},
    {"MPI_Comm_rank", NULL, NULL, comm_rank, NULL},
    {"MPI_Comm_size", NULL, NULL, comm_size, NULL},
    {"MPI_Wtime", NULL, NULL, wtime, NULL},
    {"MPI_Send", receive_one, NULL, send_one, NULL},
    {"MPI_Recv", send_one, NULL, receive_one, NULL},
    {"MPI_Sendrecv", send_receive, NULL, send_receive, NULL},
    {"MPI_Isend", receive_one, NULL, begin_send, wait_second},
    {"MPI_Irecv", send_one, NULL, begin_receive, wait_first},
    {"MPI_Wait", send_one, begin_receive, wait_first, NULL},
    {"MPI_Waitall", send_receive, begin_both, wait_all, NULL},
    {"MPI_Waitany", send_receive, begin_both, wait_any, wait_all},
    {"MPI_Test", send_one, begin_receive, test, wait_first},
    {"MPI_Iprobe", send_one, NULL, probe, receive_one},
    {"MPI_Get_count", send_one, receive_one, get_count, NULL},
    {"MPI_Barrier", barrier, NULL, barrier, NULL},
    {"MPI_Bcast", broadcast, NULL, broadcast, NULL},
    {"MPI_Reduce", reduce, NULL, reduce, NULL},
    {"MPI_Allreduce", all_reduce, NULL, all_reduce, NULL},
    {"MPI_Allgather", all_gather, NULL, all_gather, NULL},
    {"MPI_Alltoall", all_to_all, NULL, all_to_all, NULL},
};

/* Tells count_instructions that the call NAME begins; null: that it has ended. */
static inline void mark(const char *name)
{
    __asm__ volatile("int3"
                     :
                     : "a"(name)
                     : "memory");
}

static void run(void (*part)(void))
{
    if (part) {
        part();
    }
}

/* Open MPI's progress engine checks for rarer events every eighth turn. `turns` more turns, a
 * different number each time, keep these checks from always meeting the same calls. */
static void count(const struct call *call, int turns)
{
    for (int i = 0; i < turns; i++) {
        MPI_Iprobe(other_rank, TAG + 1, WORLD, &value, MPI_STATUS_IGNORE);
    }
    run(call->before);
    mark(call->name);
    call->it();
    mark(NULL);
    run(call->after);
}

int main(int argc, char **argv)
{
    int repetitions = argc > 1 ? atoi(argv[1]) : 20, rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other_rank = 1 - rank;
    for (int i = 0; i < repetitions; i++) {
        for (size_t j = 0; j < sizeof calls / sizeof calls[0]; j++) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank == 0) {
                count(&calls[j], i % 8);
            } else {
                run(calls[j].other);
            }
        }
    }
    MPI_Finalize();
    return 0;
}
