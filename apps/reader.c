/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reader.c - rank 0 reads its standard input line by line and sends each line's number to all
 * ranks. The numbers show missing and duplicated lines.
 *
 *     reader LINES PAUSE_US [EARLY [END]]
 *
 * The input is "0 ...", "1 ...", to LINES - 1. The program reads EARLY lines before MPI_Init. If
 * END is 0, it does not wait for the end of the input (Open MPI 5.0 does not forward it). It prints
 * a step line with each line, and an OK line with a checksum of the input.
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

/* Returns the number of the next line, -1 at the end of the input. */
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
