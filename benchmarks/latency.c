/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * latency.c [MILLISECONDS] - the duration of MPI calls, on 2 ranks.
 *
 * Each quantity is measured in many short repetitions for about the given time.
 * A line has its name, and the shortest and the median time of one operation in
 * seconds. The shortest time shows what the machine can do, the median what it
 * did.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LARGEST (1 << 20) /* bytes of a message */
#define WINDOW  64        /* messages under way for the message rate */
#define MOST    20000     /* recorded repetitions */

struct quantity {
    const char *name;
    void (*operation)(int bytes); /* once, by both ranks */
    int bytes;
    int inner;      /* operations in one repetition */
    double divisor; /* counted parts of an operation */
};

static char out[LARGEST], in[LARGEST];
static int rank, other;
static volatile int sink;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void ping_pong(int bytes)
{
    if (rank == 0) {
        MPI_Send(out, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(in, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
}

static void exchange(int bytes)
{
    MPI_Request requests[2];

    MPI_Irecv(in, bytes, MPI_CHAR, other, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, bytes, MPI_CHAR, other, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* Sends a window of messages one way, and receives an answer. */
static void stream(int bytes)
{
    MPI_Request requests[WINDOW];

    for (int i = 0; i < WINDOW; i++) {
        if (rank == 0) {
            MPI_Isend(out, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[i]);
        } else {
            MPI_Irecv(in + i * bytes, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD,
                      &requests[i]);
        }
    }
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    if (rank == 0) {
        MPI_Recv(in, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(out, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    }
}

static void allreduce(int bytes)
{
    MPI_Allreduce(out, in, bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
}

static void barrier(int bytes)
{
    (void)bytes;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void comm_rank(int bytes)
{
    int value;

    (void)bytes;
    MPI_Comm_rank(MPI_COMM_WORLD, &value);
    sink = value;
}

static const struct quantity quantities[] = {
    {"pingpong_1", ping_pong, 1, 100, 2},
    {"pingpong_8", ping_pong, 8, 100, 2},
    {"pingpong_64", ping_pong, 64, 100, 2},
    {"pingpong_512", ping_pong, 512, 100, 2},
    {"pingpong_1024", ping_pong, 1024, 100, 2},
    {"pingpong_4096", ping_pong, 4096, 50, 2},
    {"pingpong_16384", ping_pong, 16384, 20, 2},
    {"pingpong_65536", ping_pong, 65536, 10, 2},
    {"pingpong_262144", ping_pong, 262144, 5, 2},
    {"pingpong_1048576", ping_pong, 1048576, 2, 2},
    {"exchange_8", exchange, 8, 100, 1},
    {"message_8", stream, 8, 5, WINDOW},
    {"allreduce_8", allreduce, 8, 100, 1},
    {"barrier", barrier, 0, 100, 1},
    {"comm_rank", comm_rank, 0, 1000, 1},
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Times one repetition; returns the seconds of one operation. */
static double repeat_once(const struct quantity *q)
{
    double start;

    MPI_Barrier(MPI_COMM_WORLD);
    q->operation(q->bytes); /* warms up parts that the barrier does not use */
    start = now();
    for (int i = 0; i < q->inner; i++) {
        q->operation(q->bytes);
    }
    return (now() - start) / q->inner / q->divisor;
}

static void measure(const struct quantity *q, double seconds)
{
    static double times[MOST];
    double end = now() + seconds;
    int count = 0, more = 1;

    while (more) {
        times[count++] = repeat_once(q);
        more = count < MOST && (count < 10 || now() < end);
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        qsort(times, (size_t)count, sizeof times[0], compare);
        printf("%s %.6e %.6e\n", q->name, times[0], times[count / 2]);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    double seconds;
    int size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) {
        fprintf(stderr, "latency: needs 2 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    other = 1 - rank;
    memset(out, 1, sizeof out);
    memset(in, 2, sizeof in);
    seconds = 1e-3 * (argc > 1 ? strtod(argv[1], NULL) : 200);
    for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; i++) {
        measure(&quantities[i], seconds);
    }
    MPI_Finalize();
    return 0;
}
