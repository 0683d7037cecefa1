/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threaded.h - code that the self-checking multithreaded programs share.
 *
 * Section 4.1 of Plank's dissertation (1993) takes checkpoints of these
 * programs: processes whose threads share their memory. Does not depend on MPI.
 */
#ifndef THREADED_H
#define THREADED_H

#include "generator.h"

#include <stdio.h>

/* Ends the process with a message unless the condition holds. */
#define CHECK(condition)                                                     \
    do {                                                                     \
        if (!(condition)) {                                                  \
            fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, \
                    #condition);                                             \
            _Exit(3);                                                        \
        }                                                                    \
    } while (0)

/* Argument `index`, which must be positive, or `otherwise` if there is none. */
size_t count_argument(int argc, char **argv, int index, size_t otherwise);

/* Returns bytes of memory, from argument `index` in MiB; or else a 16th of the
 * machine's memory. */
size_t memory_argument(int argc, char **argv, int index);

/* Argument `index`, or else the number of processors. */
int threads_argument(int argc, char **argv, int index);

/* Memory without contents, to be freed. */
void *allocate(size_t size);

struct range {
    size_t from;
    size_t to; /* not included */
};

/* Returns the part of `count` things for thread `index` of `threads`. */
struct range part_of(size_t count, int index, int threads);

/* Runs work(shared, index, count) for each index in as many threads; the caller
 * is the first one. Returns when all have ended. */
void run_threads(int count, void (*work)(void *shared, int index, int count),
                 void *shared);

/* Call it after each unit of work: prints the number of units now and then. */
void show_progress(void);

/* Prints the answer when the program may end: see may_end.h. */
void print_answer(uint64_t answer);

#endif
