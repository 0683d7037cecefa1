/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sparse.c [MEBIBYTES [ITERATIONS]] - linear systems of a sparse matrix, one
 * sixteenth full, by Jacobi's iteration: the sparse matrix solver of Plank
 * 1993, section 4.2.9.
 *
 * Each rank has some of the rows, solves for their unknowns, and sends the new
 * values to all other ranks. MEBIBYTES is the size of a rank's rows, and
 * determines the number of equations. When a system is solved, its solution is
 * compared with the known one, and the next right-hand side follows. The matrix
 * is checked at the end.
 */
#include "workload.h"

#include <math.h>

#define SPACING   16 /* columns for one entry of a row */
#define PER_RHS   30 /* iterations; each halves the error, at least */
#define TOLERANCE 1e-7
#define TAG       1

struct part { /* of the matrix: rows first .. first + rows - 1 */
    long equations, per_row, first, rows;
    int *columns;
    double *values;
};

struct solver {
    struct part part;
    double *right, *old, *new, *diagonal;
    MPI_Request *requests;
    int rank, size;
};

static long first_row(long equations, int rank, int size)
{
    return equations * rank / size;
}

/* ---- The matrix, which is known everywhere ------------------------------- */

/* Entry `k` of a row is in the k-th group of SPACING columns. */
static int column_of(long row, long k)
{
    return (int)(k * SPACING +
                 (long)(mix4((uint64_t)row, (uint64_t)k, 1, 0) % SPACING));
}

static double value_of(long row, long k)
{
    return fraction_of(mix4((uint64_t)row, (uint64_t)k, 2, 0));
}

static double solution_of(long row, long system)
{
    return 1 + (double)((row + 3 * system) % 7);
}

static void make_matrix(struct part *part)
{
    size_t entries = (size_t)(part->rows * part->per_row);

    part->columns = malloc(entries * sizeof *part->columns);
    part->values = malloc(entries * sizeof *part->values);
    CHECK(part->columns != NULL && part->values != NULL);
    for (long row = 0, at = 0; row < part->rows; row++) {
        for (long k = 0; k < part->per_row; k++, at++) {
            part->columns[at] = column_of(part->first + row, k);
            part->values[at] = value_of(part->first + row, k);
        }
    }
}

static int matrix_is_right(const struct part *part)
{
    for (long row = 0, at = 0; row < part->rows; row++) {
        for (long k = 0; k < part->per_row; k++, at++) {
            if (part->columns[at] != column_of(part->first + row, k) ||
                part->values[at] != value_of(part->first + row, k)) {
                return 0;
            }
        }
    }
    return 1;
}

/* ---- Solving ------------------------------------------------------------- */

/* Returns the row's off-diagonal entries times x. */
static double row_times(const struct part *part, long row, const double *x)
{
    const int *columns = part->columns + row * part->per_row;
    const double *values = part->values + row * part->per_row;
    double sum = 0;

    for (long k = 0; k < part->per_row; k++) {
        sum += values[k] * x[columns[k]];
    }
    return sum;
}

/* The diagonal is twice the sum of the other entries, so an iteration halves
 * the error; an entry on the diagonal only adds to it. */
static void make_diagonal(struct solver *s)
{
    for (long i = 0; i < s->part.equations; i++) {
        s->old[i] = 1;
    }
    for (long row = 0; row < s->part.rows; row++) {
        s->diagonal[row] = 2 * row_times(&s->part, row, s->old);
    }
}

/* Makes the right-hand side for the known solution; the first guess is zero. */
static void begin_system(struct solver *s, long system)
{
    for (long i = 0; i < s->part.equations; i++) {
        s->old[i] = solution_of(i, system);
    }
    for (long row = 0; row < s->part.rows; row++) {
        s->right[row] = row_times(&s->part, row, s->old) +
                        s->diagonal[row] * s->old[s->part.first + row];
    }
    memset(s->old, 0, (size_t)s->part.equations * sizeof *s->old);
}

static void send_to_all(struct solver *s)
{
    int count = 0;

    for (int other = 0; other < s->size; other++) {
        long first = first_row(s->part.equations, other, s->size);
        long rows = first_row(s->part.equations, other + 1, s->size) - first;

        if (other == s->rank) {
            continue;
        }
        MPI_Irecv(s->new + first, (int)rows, MPI_DOUBLE, other, TAG,
                  MPI_COMM_WORLD, &s->requests[count++]);
        MPI_Isend(s->new + s->part.first, (int)s->part.rows, MPI_DOUBLE, other,
                  TAG, MPI_COMM_WORLD, &s->requests[count++]);
    }
    MPI_Waitall(count, s->requests, MPI_STATUSES_IGNORE);
}

static void iterate(struct solver *s)
{
    double *old = s->old;

    for (long row = 0; row < s->part.rows; row++) {
        s->new[s->part.first + row] =
            (s->right[row] - row_times(&s->part, row, s->old)) /
            s->diagonal[row];
    }
    send_to_all(s);
    s->old = s->new;
    s->new = old;
}

static void check_solution(const struct solver *s, long system)
{
    for (long i = 0; i < s->part.equations; i++) {
        CHECK(fabs(s->old[i] - solution_of(i, system)) < TOLERANCE);
    }
}

/* ---- Setting up ---------------------------------------------------------- */

static void set_up(struct solver *s, size_t bytes)
{
    const double entry = sizeof *s->part.columns + sizeof *s->part.values;
    struct part *part = &s->part;

    part->per_row = (long)sqrt((double)bytes / entry * s->size / SPACING) + 1;
    part->equations = part->per_row * SPACING;
    part->first = first_row(part->equations, s->rank, s->size);
    part->rows = first_row(part->equations, s->rank + 1, s->size) - part->first;
    make_matrix(part);
    s->right = zeros(part->rows);
    s->diagonal = zeros(part->rows);
    s->old = zeros(part->equations);
    s->new = zeros(part->equations);
    s->requests = malloc(2 * (size_t)s->size * sizeof *s->requests);
    CHECK(s->requests != NULL);
    make_diagonal(s);
}

int main(int argc, char **argv)
{
    struct solver s;
    uint64_t sum = 0;
    long iterations;
    size_t bytes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s.size);
    bytes = bytes_argument(argc, argv, 1);
    iterations = number_argument(argc, argv, 2, 2 * PER_RHS);
    set_up(&s, bytes);

    for (long i = 0; i < iterations; i++) {
        show_step(s.rank, i);
        if (i % PER_RHS == 0) {
            begin_system(&s, i / PER_RHS);
        }
        iterate(&s);
        sum = checksum(sum, s.old, (size_t)s.part.equations * sizeof *s.old);
        if (i % PER_RHS == PER_RHS - 1) {
            check_solution(&s, i / PER_RHS);
        }
    }

    CHECK(matrix_is_right(&s.part));
    print_answer(sum);
    MPI_Finalize();
    return 0;
}
