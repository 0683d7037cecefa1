/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reader.c - rank 0 reads its standard input line by line and tells all ranks; every line has
 * its number, so that none may be missing or come twice.
 *
 *     reader LINES PAUSE_US [EARLY [END]]
 *
 * The input is "0 ...", "1 ...", to LINES - 1. EARLY lines are read before MPI_Init. END is 0
 * if the end of the input is not awaited (Open MPI 5.0 does not forward it). Prints a step line
 * with each line read, and an OK line with a checksum of all of it.
 */
#include "selfcheck.h"

#include <stdlib.h>
#include <time.h>

static long sum_of_lines;

static void pause_us(long us)
{
    struct timespec time = {us / 1000000, us % 1000000 * 1000};

    while (us > 0 && nanosleep(&time, &time) != 0) {
    }
}

/* The number of the next line, -1 at the end of the input. */
static long read_number(long expected)
{
    static char *line;
    static size_t size;
    ssize_t length = getline(&line, &size, stdin);

    if (length < 0) {
        return -1;
    }
    for (ssize_t i = 0; i < length; i++) {
        sum_of_lines = (sum_of_lines * 31 + line[i]) % 1000000007;
    }
    if (strtol(line, NULL, 10) != expected) {
        printf("BAD line %ld: %s\n", expected, line);
        fflush(stdout);
        exit(1);
    }
    return expected;
}

int main(int argc, char **argv)
{
    const long lines = argc > 1 ? atol(argv[1]) : 0;
    const long pause = argc > 2 ? atol(argv[2]) : 0;
    const long early = argc > 3 ? atol(argv[3]) : 0;
    const int awaits_end = argc > 4 ? atoi(argv[4]) : 1;
    long count = 0, number = 0;
    int rank;

    if (early > 0) { /* only rank 0 has an input */
        while (count < early && read_number(count) >= 0) {
            count++;
        }
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while (number >= 0) {
        if (rank == 0) {
            number = count < lines || awaits_end ? read_number(count) : -1;
        }
        MPI_Bcast(&number, 1, MPI_LONG, 0, MPI_COMM_WORLD);
        if (number >= 0 && rank == 0) {
            printf("step %ld\n", number);
            fflush(stdout);
            count++;
        }
        pause_us(pause);
    }
    wait_for_end_of_job();
    if (rank == 0) {
        printf("%s %ld lines, checksum %ld\n", count == lines ? "OK" : "BAD", count, sum_of_lines);
    }
    MPI_Finalize();
    return rank == 0 && count != lines;
}
