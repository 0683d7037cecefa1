/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threaded.h - what the self-checking multithreaded programs share.
 *
 * They are the programs that section 4.1 of Plank's dissertation (1993) takes
 * checkpoints of: processes whose threads share their memory. Nothing of MPI.
 */
#ifndef THREADED_H
#define THREADED_H

#include "generator.h"

#include <stdio.h>

/* Ends the process with a message unless the condition holds. */
#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__,   \
                    #condition);                                               \
            _Exit(3);                                                          \
        }                                                                      \
    } while (0)

/* Argument `index`, which must be positive, or `otherwise` if there is none. */
size_t count_argument(int argc, char **argv, int index, size_t otherwise);

/* Bytes of memory, from argument `index` in MiB; or else a 16th of what the
 * machine has. */
size_t memory_argument(int argc, char **argv, int index);

/* Argument `index`, or else the number of processors. */
int threads_argument(int argc, char **argv, int index);

/* Memory without contents, to be freed. */
void *allocate(size_t size);

struct range {
    size_t from;
    size_t to; /* not included */
};

/* What thread `index` of `threads` has to do with `count` things. */
struct range part_of(size_t count, int index, int threads);

/* Runs work(shared, index, count) for each index in as many threads, the
 * caller's being the first, and returns when all have ended. */
void run_threads(int count, void (*work)(void *shared, int index, int count),
                 void *shared);

/* To be called after each bit of work: tells now and then how many there were.
 */
void show_progress(void);

/* Prints it when the program may end: see may_end.h. */
void print_answer(uint64_t answer);

#endif
