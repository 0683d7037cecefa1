/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gauss.c [MEBIBYTES [PIVOTS]] - Gaussian elimination with partial pivoting,
 * the program of Plank 1993, section 4.2.9.
 *
 * The ranks have the columns of a random square matrix in turn. At each step
 * the rank with the pivot's column broadcasts it. MEBIBYTES is the size of a
 * rank's columns, and determines the size of the matrix. PIVOTS columns are
 * eliminated, which determines the running time. The result times a vector must
 * equal the original matrix, with its rows permuted, times that vector.
 */
#include "workload.h"

#include <math.h>

#define TOLERANCE 1e-6

struct elimination {
    long n;         /* rows, and columns */
    long columns;   /* of this rank: rank, rank + size, ... */
    double *values; /* column by column */
    double *pivot;  /* multipliers of this step's column, below its row */
    long *row_at;   /* the original row that is now at a place */
    int rank, size;
};

static double *local_column(const struct elimination *e, long local)
{
    return e->values + local * e->n;
}

static long global_column(const struct elimination *e, long local)
{
    return local * e->size + e->rank;
}

/* Returns an element of the matrix, between -1 and 1. */
static double element(long row, long column)
{
    return 2 * fraction_of(mix4((uint64_t)row, (uint64_t)column, 3, 0)) - 1;
}

/* ---- Elimination --------------------------------------------------------- */

static long largest_below(const double *column, long from, long n)
{
    long largest = from;

    for (long row = from + 1; row < n; row++) {
        if (fabs(column[row]) > fabs(column[largest])) {
            largest = row;
        }
    }
    return largest;
}

static void swap_rows(struct elimination *e, long one, long other)
{
    long row = e->row_at[one];

    e->row_at[one] = e->row_at[other];
    e->row_at[other] = row;
    for (long local = 0; local < e->columns; local++) {
        double *column = local_column(e, local), value = column[one];

        column[one] = column[other];
        column[other] = value;
    }
}

/* The owner of column `step` chooses the pivot; all ranks swap it into its
 * row. */
static void choose_pivot(struct elimination *e, long step)
{
    const int owner = (int)(step % e->size);
    long chosen;

    if (e->rank == owner) {
        chosen = largest_below(local_column(e, step / e->size), step, e->n);
    }
    MPI_Bcast(&chosen, 1, MPI_LONG, owner, MPI_COMM_WORLD);
    swap_rows(e, step, chosen);
}

/* The owner's column becomes the multipliers' column, and all ranks receive
 * it. */
static void share_multipliers(struct elimination *e, long step)
{
    const int owner = (int)(step % e->size);
    const long below = e->n - step - 1;

    if (e->rank == owner) {
        double *column = local_column(e, step / e->size);

        for (long row = step + 1; row < e->n; row++) {
            column[row] /= column[step];
        }
        memcpy(e->pivot + step + 1, column + step + 1,
               (size_t)below * sizeof *column);
    }
    MPI_Bcast(e->pivot + step + 1, (int)below, MPI_DOUBLE, owner,
              MPI_COMM_WORLD);
}

static void eliminate(struct elimination *e, long step)
{
    choose_pivot(e, step);
    share_multipliers(e, step);
    for (long local = 0; local < e->columns; local++) {
        double *column = local_column(e, local);
        const double factor = column[step];

        if (global_column(e, local) <= step) {
            continue; /* multipliers, or the pivot's own column */
        }
        for (long row = step + 1; row < e->n; row++) {
            column[row] -= factor * e->pivot[row];
        }
    }
}

/* ---- The check: L times (U times x) is P times (A times x) ----------------
 */

static double check_vector(long column)
{
    return element(column, -1);
}

static void add_over_ranks(double *values, long n)
{
    MPI_Allreduce(MPI_IN_PLACE, values, (int)n, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
}

/* Computes U times x; below the pivots, U is the rest of the matrix. */
static double *upper_times_vector(const struct elimination *e, long pivots)
{
    double *result = zeros(e->n);

    for (long local = 0; local < e->columns; local++) {
        const double *column = local_column(e, local);
        const long j = global_column(e, local);
        const long rows = j < pivots ? j + 1 : e->n;

        for (long row = 0; row < rows; row++) {
            result[row] += column[row] * check_vector(j);
        }
    }
    add_over_ranks(result, e->n);
    return result;
}

/* Computes L times `upper`; the diagonal of L is ones. */
static double *lower_times(const struct elimination *e, const double *upper,
                           long pivots)
{
    double *result = zeros(e->n);

    for (long local = 0; local < e->columns; local++) {
        const double *column = local_column(e, local);
        const long j = global_column(e, local);

        for (long row = j + 1; j < pivots && row < e->n; row++) {
            result[row] += column[row] * upper[j];
        }
    }
    add_over_ranks(result, e->n);
    for (long row = 0; row < e->n; row++) {
        result[row] += upper[row];
    }
    return result;
}

/* Computes the original matrix, with its rows in the present order, times x. */
static double *matrix_times_vector(const struct elimination *e)
{
    double *result = zeros(e->n);

    for (long local = 0; local < e->columns; local++) {
        const long j = global_column(e, local);

        for (long row = 0; row < e->n; row++) {
            result[row] += element(e->row_at[row], j) * check_vector(j);
        }
    }
    add_over_ranks(result, e->n);
    return result;
}

static void check(const struct elimination *e, long pivots)
{
    double *upper = upper_times_vector(e, pivots);
    double *product = lower_times(e, upper, pivots);
    double *expected = matrix_times_vector(e);

    for (long row = 0; row < e->n; row++) {
        CHECK(fabs(product[row] - expected[row]) < TOLERANCE);
    }
    free(upper);
    free(product);
    free(expected);
}

static void set_up(struct elimination *e, size_t bytes)
{
    e->n = (long)sqrt((double)bytes / sizeof *e->values * e->size);
    e->columns = (e->n - e->rank + e->size - 1) / e->size;
    e->values = malloc((size_t)(e->columns * e->n) * sizeof *e->values);
    e->row_at = malloc((size_t)e->n * sizeof *e->row_at);
    CHECK(e->values != NULL && e->row_at != NULL);
    e->pivot = zeros(e->n);
    for (long row = 0; row < e->n; row++) {
        e->row_at[row] = row;
    }
    for (long local = 0; local < e->columns; local++) {
        for (long row = 0; row < e->n; row++) {
            local_column(e, local)[row] = element(row, global_column(e, local));
        }
    }
}

int main(int argc, char **argv)
{
    struct elimination e;
    long pivots;
    size_t bytes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &e.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &e.size);
    bytes = bytes_argument(argc, argv, 1);
    pivots = number_argument(argc, argv, 2, 100);
    set_up(&e, bytes);
    pivots = pivots < e.n ? pivots : e.n;

    for (long step = 0; step < pivots; step++) {
        show_step(e.rank, step);
        eliminate(&e, step);
    }

    check(&e, pivots);
    print_answer(
        checksum(0, e.values, (size_t)(e.columns * e.n) * sizeof *e.values));
    MPI_Finalize();
    return 0;
}
