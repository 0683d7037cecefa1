/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window_latency.c [MILLISECONDS] - the duration of one-sided operations, on 2
 * ranks.
 *
 * Rank 0 accesses the memory of rank 1, which waits in a barrier. A latency is
 * the time of one operation and a flush. A stream is many operations and a
 * flush; its time is for one operation. Each is measured in many short
 * repetitions for about the given time. A line has its name, and the shortest
 * and the median time in seconds.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LARGEST (1 << 20) /* bytes of an operation */
#define STREAM  (4 << 20) /* bytes between two flushes, at most */
#define MOST    20000     /* recorded repetitions */
#define TARGET  1

static char mine[LARGEST];
static MPI_Win win;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void put(int bytes)
{
    MPI_Put(mine, bytes, MPI_BYTE, TARGET, 0, bytes, MPI_BYTE, win);
}

static void get(int bytes)
{
    MPI_Get(mine, bytes, MPI_BYTE, TARGET, 0, bytes, MPI_BYTE, win);
}

static void accumulate(int bytes)
{
    const int count = bytes / (int)sizeof(double);

    MPI_Accumulate(mine, count, MPI_DOUBLE, TARGET, 0, count, MPI_DOUBLE,
                   MPI_SUM, win);
}

static void fetch(int bytes)
{
    static long one = 1, found;

    (void)bytes;
    MPI_Fetch_and_op(&one, &found, MPI_LONG, TARGET, 0, MPI_SUM, win);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Returns the seconds of one operation, for `count` operations with a flush
 * after every `stream` operations. */
static double repeat(void (*operation)(int), int bytes, int count, int stream)
{
    double start = now();

    for (int i = 1; i <= count; i++) {
        operation(bytes);
        if (i % stream == 0) {
            MPI_Win_flush(TARGET, win);
        }
    }
    return (now() - start) / count;
}

static void measure(const char *name, void (*operation)(int), int bytes,
                    int stream, double seconds)
{
    static double times[MOST];
    const int few = bytes < 4096 ? 64 : 4;
    const int count = few > stream ? few : stream;
    double end = now() + seconds;
    int done = 0;

    repeat(operation, bytes, count, stream); /* warms up */
    while (done < MOST && (done < 10 || now() < end)) {
        times[done++] = repeat(operation, bytes, count, stream);
    }
    qsort(times, (size_t)done, sizeof(times[0]), compare);
    printf("%s_%d %.4e %.4e\n", name, bytes, times[0], times[done / 2]);
    fflush(stdout);
}

/* Many operations, but no more than a log can hold. */
static int stream_of(int bytes)
{
    return STREAM / bytes < 64 ? STREAM / bytes : 64;
}

static void measure_all(double seconds)
{
    static const int sizes[] = {8, 64, 512, 4096, 32768, 262144, LARGEST};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const int bytes = sizes[i], stream = stream_of(bytes);

        measure("put", put, bytes, 1, seconds);
        measure("get", get, bytes, 1, seconds);
        measure("accumulate", accumulate, bytes, 1, seconds);
        measure("put_stream", put, bytes, stream, seconds);
        measure("get_stream", get, bytes, stream, seconds);
        measure("accumulate_stream", accumulate, bytes, stream, seconds);
    }
    measure("fetch_and_op", fetch, (int)sizeof(long), 1, seconds);
    measure("fetch_and_op_stream", fetch, (int)sizeof(long), 64, seconds);
}

int main(int argc, char **argv)
{
    const int milliseconds = argc > 1 ? atoi(argv[1]) : 100;
    void *memory;
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2) {
        fprintf(stderr, "window_latency: on 2 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Win_allocate(LARGEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        measure_all(1e-3 * milliseconds);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
