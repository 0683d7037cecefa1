/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * matrix_product.c [MEBIBYTES [THREADS [ROWS]]] - multiplies two matrices.
 *
 * Two square matrices of 64-bit integers and their product, modulo 2^64, take
 * the memory. Threads take rows of the product from a shared counter until ROWS
 * rows are computed, or all by default. A vector checks the product
 * (Freivalds); the generator checks all else.
 */
#include "threaded.h"

#include <stdatomic.h>

enum {
    LEFT,
    RIGHT,
    PRODUCT,
    MATRICES
};

struct product {
    size_t side; /* of each matrix */
    size_t rows; /* to be computed */
    uint64_t *matrix[MATRICES];
    uint64_t *vector;
    uint64_t *right_vector; /* the right matrix times the vector */
    atomic_size_t next_row; /* the first row that no thread has taken */
    _Atomic uint64_t answer;
};

static uint64_t *row_of(const struct product *p, int matrix, size_t row)
{
    return p->matrix[matrix] + row * p->side;
}

static size_t row_size(const struct product *p)
{
    return p->side * sizeof(uint64_t);
}

static uint64_t row_key(int matrix, size_t row)
{
    return mix4((uint64_t)matrix, row, 0, 1);
}

static int is_as_made(const struct product *p, int matrix, size_t row)
{
    return is_filled(row_of(p, matrix, row), row_size(p), row_key(matrix, row));
}

static uint64_t dot(const struct product *p, const uint64_t *a,
                    const uint64_t *b)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < p->side; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static void make_part(void *shared, int index, int count)
{
    struct product *p = shared;
    struct range part = part_of(p->side, index, count);

    for (size_t row = part.from; row < part.to; row++) {
        for (int matrix = 0; matrix < MATRICES; matrix++) {
            fill(row_of(p, matrix, row), row_size(p), row_key(matrix, row));
        }
        /* Odd, so that one wrong element always shows modulo 2^64. */
        p->vector[row] = mix4(row, 0, 0, 2) | 1;
    }
}

/* Adds whole rows: sequential access is the fastest. */
static void compute_row(const struct product *p, size_t row)
{
    const uint64_t *left = row_of(p, LEFT, row);
    uint64_t *product = row_of(p, PRODUCT, row);

    memset(product, 0, row_size(p));
    for (size_t i = 0; i < p->side; i++) {
        const uint64_t *right = row_of(p, RIGHT, i);

        for (size_t column = 0; column < p->side; column++) {
            product[column] += left[i] * right[column];
        }
    }
}

static void take_rows(void *shared, int index, int count)
{
    struct product *p = shared;
    size_t row;

    (void)index;
    (void)count;
    while ((row = atomic_fetch_add(&p->next_row, 1)) < p->rows) {
        compute_row(p, row);
        show_progress();
    }
}

static void multiply_vector(void *shared, int index, int count)
{
    struct product *p = shared;
    struct range part = part_of(p->side, index, count);

    for (size_t row = part.from; row < part.to; row++) {
        p->right_vector[row] = dot(p, row_of(p, RIGHT, row), p->vector);
    }
}

static void check_part(void *shared, int index, int count)
{
    struct product *p = shared;
    struct range part = part_of(p->side, index, count);

    for (size_t row = part.from; row < part.to; row++) {
        CHECK(is_as_made(p, LEFT, row));
        CHECK(is_as_made(p, RIGHT, row));
        if (row >= p->rows) {
            CHECK(is_as_made(p, PRODUCT, row));
            continue;
        }
        CHECK(dot(p, row_of(p, PRODUCT, row), p->vector) ==
              dot(p, row_of(p, LEFT, row), p->right_vector));
        atomic_fetch_add(&p->answer, mix(checksum(row, row_of(p, PRODUCT, row),
                                                  row_size(p))));
    }
}

/* The side of the largest matrices that fit. */
static size_t side_for(size_t bytes)
{
    size_t elements = bytes / MATRICES / sizeof(uint64_t), side = 1;

    while ((side + 1) * (side + 1) <= elements) {
        side++;
    }
    return side;
}

int main(int argc, char **argv)
{
    struct product p = {.side = side_for(memory_argument(argc, argv, 1))};
    int threads = threads_argument(argc, argv, 2);

    p.rows = count_argument(argc, argv, 3, p.side);
    CHECK(p.rows <= p.side);
    for (int matrix = 0; matrix < MATRICES; matrix++) {
        p.matrix[matrix] = allocate(p.side * row_size(&p));
    }
    p.vector = allocate(row_size(&p));
    p.right_vector = allocate(row_size(&p));

    run_threads(threads, make_part, &p);
    run_threads(threads, take_rows, &p);
    run_threads(threads, multiply_vector, &p);
    run_threads(threads, check_part, &p);

    print_answer(p.answer);
    for (int matrix = 0; matrix < MATRICES; matrix++) {
        free(p.matrix[matrix]);
    }
    free(p.vector);
    free(p.right_vector);
    return 0;
}
