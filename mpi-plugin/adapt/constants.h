/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * constants.h - the values that Open MPI and MPICH give to the same names.
 *
 * No file can include both mpi.h: each side has a generated file with the
 * values in the order of the same names (generate/adapter_constants.py).
 */
#ifndef CKPT_ADAPT_CONSTANTS_H
#define CKPT_ADAPT_CONSTANTS_H

#include "adapt_groups.h" /* generated: enum adapt_group, enum adapt_room */

/* A value of no constant of MPICH, so MPICH refuses it. */
#define ADAPT_NO_VALUE (-2000000)

/* The values of one group of names, by enum adapt_group. */
struct adapt_values {
    int count;
    const int *value;
};

extern const struct adapt_values adapt_openmpi_values[];
extern const struct adapt_values adapt_mpich_values[];

/* The names of the group ADAPT_ERROR. */
extern const char *const adapt_error_names[];

/* Attributes that only Open MPI has; they are never set. */
extern const struct adapt_values adapt_openmpi_keyvals;

/* Sizes of the application's string buffers, by enum adapt_room. */
extern const int adapt_openmpi_room[];

/* Addresses with a special meaning in Open MPI. */
extern const void *const adapt_openmpi_in_place;
extern const void *const adapt_openmpi_unweighted;
extern const void *const adapt_openmpi_weights_empty;

/*
 * Convert the value of a name to the other library's value. A value outside the
 * group becomes ADAPT_NO_VALUE for MPICH; from MPICH it is returned unchanged.
 * Context: any (lower half).
 */
int adapt_constant_in(enum adapt_group group, int openmpi);
int adapt_constant_out(enum adapt_group group, int mpich);

/* The same for constants that can be combined, as MPI_MODE_*. */
int adapt_flags_in(enum adapt_group group, int openmpi);
int adapt_flags_out(enum adapt_group group, int mpich);

/* Returns Open MPI's code for an error code of MPICH: its class's code. */
int adapt_code_other(int code);

static inline int adapt_code(int code)
{
    return __builtin_expect(code == 0, 1) ? 0 : adapt_code_other(code);
}

/* Convert a rank, or a special value (MPI_ANY_SOURCE, MPI_PROC_NULL,
 * MPI_ROOT). */
static inline int adapt_rank_in(int rank)
{
    return rank >= 0 ? rank : adapt_constant_in(ADAPT_RANK, rank);
}

static inline int adapt_rank_out(int rank)
{
    return rank >= 0 ? rank : adapt_constant_out(ADAPT_RANK, rank);
}

/*
 * Returns 0 if the constants that are passed on unchanged have equal values,
 * else the number (from 1) of the first that differs. Context: normal.
 */
int adapt_constants_check(void);

#endif
