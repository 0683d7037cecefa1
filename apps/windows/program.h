/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program.h - code that the programs on windows share: options, progress, the end.
 *
 * Options: --steps N, --size N, --seed N; --shared and --mode NAME for programs that support them;
 * --progress PREFIX. With --progress, each rank appends a line to the file PREFIX.RANK at each
 * step: the step's number, and the number of all that the rank has seen before (seen.h). Rank 0
 * prints "step N" now and then.
 *
 * Between program_begin() and program_end() the programs communicate only through windows and
 * barriers, and so do these functions. A rank that rolls back alone cannot take part in anything
 * else.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "area.h"

struct program {
    /* Set by the program: the defaults. */
    const char *name;
    long steps, size;
    uint64_t seed;
    int has_shared;           /* knows --shared */
    const char *const *modes; /* of --mode, the default first; or NULL */

    /* Set by program_begin(). */
    int shared;
    int mode; /* an index into `modes` */
    int rank, ranks;

    /* Private. */
    char progress[4096]; /* the file's name; empty: none */
    struct area results;
    struct area slots;
    uint64_t reductions;
};

/* Reads the options, then initialises MPI and makes its internal windows. Exits with 2 if the
 * options are wrong. Collective, once. */
void program_begin(struct program *program, int argc, char **argv);

/* Reports that this rank begins step `step`. Local. */
void program_step(struct program *program, long step);

/* Returns the sum, modulo 2^64, of all ranks' numbers. Collective. */
uint64_t program_sum(struct program *program, uint64_t number);

/* Returns the largest of all ranks' numbers. Collective. */
double program_max(struct program *program, double number);

/* Prints the result, which is the sum of all ranks' sums, and whether it is right in all ranks;
 * finalises MPI. Each thing in a window adds its own mix() to one rank's sum, so the result does
 * not depend on the distribution of things. Returns the program's exit status. Collective; the
 * caller frees the program's windows before. */
int program_end(struct program *program, uint64_t sum, int right);

#endif
