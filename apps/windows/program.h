/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program.h - what the programs on windows share: options, progress, the end.
 *
 * Options: --steps N, --size N, --seed N; --shared and --mode NAME where the
 * program has them; --progress PREFIX: each rank appends a line with the number
 * of each step, and what it has seen before (seen.h), to the file PREFIX.RANK. Rank
 * 0 prints "step N" now and then.
 *
 * Between program_begin() and program_end() the programs communicate through
 * windows and barriers only, and so do these functions: a rank that is rolled
 * back alone takes part in nothing else.
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

/* Reads the options, then initialises MPI and makes the program's own windows.
 * Exits with 2 if the options are wrong. Collective, once. */
void program_begin(struct program *program, int argc, char **argv);

/* This rank begins step `step`. Local. */
void program_step(struct program *program, long step);

/* The sum, modulo 2^64, of all ranks' numbers. Collective. */
uint64_t program_sum(struct program *program, uint64_t number);

/* The largest of all ranks' numbers. Collective. */
double program_max(struct program *program, double number);

/* Prints the result, the sum of all ranks' sums, and whether it is right, which
 * it is if all ranks say so; finalises MPI. Each thing in a window adds its own
 * mix() to one rank's sum, so that the result is the same however the things
 * are dealt out. The program's exit status. Collective; the program's windows
 * are freed before. */
int program_end(struct program *program, uint64_t sum, int right);

#endif
