/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stencil.c - a stencil of five points on a periodic square grid, with the
 * neighbours' rows exchanged in each of MPI's ways to synchronise a window
 * (--mode; see halo.h).
 *
 * --size is the side of the grid, rounded up to a power of two. The cells are
 * numbers modulo a prime P with as many roots of unity. A step replaces each
 * cell by the sum of itself times SELF and its neighbours times NEIGHBOUR. This
 * multiplies each component of the grid's Fourier transform modulo P by a known
 * number. At the end some components are compared exactly.
 */
#include "blocks.h"
#include "halo.h"
#include "program.h"

#define P          998244353 /* a prime, 119 times 2 to the 23rd plus 1 */
#define GENERATOR  3         /* of the numbers modulo P */
#define SELF       713190821
#define NEIGHBOUR  482617093
#define MAX_SIDE   (1 << 15)
#define COMPONENTS 4 /* of the Fourier transform that are compared */

static uint64_t power(uint64_t base, uint64_t exponent)
{
    uint64_t result = 1;

    for (; exponent > 0; exponent /= 2) {
        result = exponent % 2 == 1 ? result * base % P : result;
        base = base * base % P;
    }
    return result;
}

static uint32_t initial(uint64_t seed, long row, long column)
{
    return (uint32_t)(mix4(seed, (uint64_t)row, (uint64_t)column, 0) % P);
}

/* ---- Steps --------------------------------------------------------------- */

static void compute_row(const struct halo *halo, int copy, long row)
{
    const uint32_t *above = halo_row(halo, copy, row - 1);
    const uint32_t *old = halo_row(halo, copy, row);
    const uint32_t *below = halo_row(halo, copy, row + 1);
    uint32_t *new = halo_row(halo, 1 - copy, row);
    const long mask = halo->side - 1;

    for (long i = 0; i < halo->side; i++) {
        const uint64_t around = (uint64_t)above[i] + below[i] +
                                old[(i - 1) & mask] + old[(i + 1) & mask];

        new[i] = (uint32_t)((SELF * (uint64_t)old[i] + NEIGHBOUR * around) % P);
    }
}

/* Runs the steps; returns the copy with the result. */
static int run(struct program *program, const struct halo *halo)
{
    for (long step = 0; step < program->steps; step++) {
        program_step(program, step);
        halo_exchange(halo, (int)(step % 2));
        for (long row = 1; row <= halo->rows; row++) {
            compute_row(halo, (int)(step % 2), row);
        }
    }
    return (int)(program->steps % 2);
}

/* ---- The check ----------------------------------------------------------- */

/* One component of the transform: roots[k] is the k-th power of a root of
 * unity; down and across are the component's numbers. */
struct component {
    const uint64_t *roots;
    long down, across;
};

static uint64_t weight(const struct halo *halo, const struct component *c,
                       long row, long column)
{
    return c->roots[(row * c->down + column * c->across) & (halo->side - 1)];
}

/* Computes the initial and the present component, each summed over this rank's
 * rows. */
static void transform(const struct halo *halo, const struct component *c,
                      uint64_t seed, int copy, long first, uint64_t sums[2])
{
    sums[0] = sums[1] = 0;
    for (long row = 0; row < halo->rows; row++) {
        const uint32_t *now = halo_row(halo, copy, row + 1);

        for (long i = 0; i < halo->side; i++) {
            const uint64_t w = weight(halo, c, first + row, i);

            sums[0] += w * initial(seed, first + row, i) % P;
            sums[1] += w * now[i] % P;
        }
    }
}

/* Returns the number by which a step multiplies the component. */
static uint64_t factor(const struct halo *halo, const struct component *c)
{
    const uint64_t around =
        weight(halo, c, 1, 0) + weight(halo, c, -1, 0) +
        weight(halo, c, 0, 1) + weight(halo, c, 0, -1);

    return (SELF + NEIGHBOUR * around) % P;
}

static int is_right(struct program *program, const struct halo *halo, int copy,
                    long first)
{
    uint64_t *roots = malloc((size_t)halo->side * sizeof *roots);
    struct component c = {roots, 0, 0};
    int right = 1;

    CHECK(roots != NULL);
    for (long i = 0; i < halo->side; i++) {
        roots[i] = power(GENERATOR, (P - 1) / (uint64_t)halo->side *
                                        (uint64_t)i);
    }
    for (uint64_t i = 0; i < COMPONENTS; i++) {
        uint64_t sums[2], then, now;

        c.down = (long)(mix4(program->seed, i, 1, 1) & 0xffff);
        c.across = (long)(mix4(program->seed, i, 2, 1) & 0xffff);
        transform(halo, &c, program->seed, copy, first, sums);
        then = program_sum(program, sums[0]) % P;
        now = program_sum(program, sums[1]) % P;
        right &= now == power(factor(halo, &c), (uint64_t)program->steps) *
                            then % P;
    }
    free(roots);
    return right;
}

static uint64_t sum_of(const struct halo *halo, int copy, long first)
{
    uint64_t sum = 0;

    for (long row = 0; row < halo->rows; row++) {
        for (long i = 0; i < halo->side; i++) {
            sum += mix4((uint64_t)(first + row), (uint64_t)i,
                        halo_row(halo, copy, row + 1)[i], 0);
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    struct program program = {.name = "stencil",
                              .steps = 10000,
                              .size = 512,
                              .seed = 1,
                              .has_shared = 1,
                              .modes = halo_modes};
    struct halo halo;
    uint64_t sum;
    long side = 4, first;
    int copy, right;

    program_begin(&program, argc, argv);
    while (side < program.size || side < program.ranks) {
        side *= 2;
    }
    CHECK(side <= MAX_SIDE);
    first = blocks_first(side, program.ranks, program.rank);
    halo_make(&halo, (enum halo_mode)program.mode, side, program.shared);
    for (long row = 0; row < halo.rows; row++) {
        for (long i = 0; i < side; i++) {
            halo_row(&halo, 0, row + 1)[i] =
                initial(program.seed, first + row, i);
        }
    }
    copy = run(&program, &halo);
    right = is_right(&program, &halo, copy, first);
    sum = sum_of(&halo, copy, first);
    halo_free(&halo);
    return program_end(&program, sum, right);
}
