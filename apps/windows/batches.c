/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * batches.c - many small operations between two synchronisations.
 *
 * With --mode counts, every rank keeps --size words for each other rank. In each step a rank adds
 * one to each of its words at all others, and delivers all additions with one flush. Then it counts
 * in its own memory, by loads and stores, with flushes without deliveries in between. A lost or
 * repeated operation shows in a count.
 *
 * With --mode sums, all ranks add fractions to the same words of each rank. The last bits of the
 * sums depend on the order of delivery.
 */
#include "program.h"
#include "seen.h"

#include <math.h>

enum {
    COUNTS,
    SUMS
};

static const char *const modes[] = {"counts", "sums", NULL};

struct batches {
    struct program *program;
    struct area area; /* a rank's part: its own words, then those of each rank */
    size_t size;      /* number of words in each */
};

static size_t place_of(const struct batches *batches, int origin, size_t i)
{
    return ((size_t)(origin + 1) * batches->size + i) * sizeof(uint64_t);
}

/* ---- Counts -------------------------------------------------------------- */

static void add_to_others(const struct batches *batches)
{
    const struct program *program = batches->program;
    const uint64_t one = 1;

    for (int target = 0; target < program->ranks; target++) {
        for (size_t i = 0; i < batches->size && target != program->rank; i++) {
            MPI_Accumulate(&one, 1, MPI_UINT64_T, target,
                           (MPI_Aint)place_of(batches, program->rank, i), 1, MPI_UINT64_T,
                           MPI_SUM, batches->area.window);
        }
    }
    MPI_Win_flush_all(batches->area.window);
}

static void count(const struct batches *batches)
{
    volatile uint64_t *own = (volatile uint64_t *)batches->area.own;

    for (size_t i = 0; i < batches->size; i++) {
        own[i]++;
        MPI_Win_flush(batches->program->rank, batches->area.window);
    }
}

/* Whether each count has its expected value. */
static int has_counted(const struct batches *batches)
{
    const struct program *program = batches->program;
    const uint64_t *own = (const uint64_t *)batches->area.own;
    int right = 1;

    for (int origin = -1; origin < program->ranks; origin++) {
        for (size_t i = 0; i < batches->size; i++) {
            const uint64_t found = own[place_of(batches, origin, i) / sizeof(*own)];

            right &= found == (origin == program->rank ? 0 : (uint64_t)program->steps);
        }
    }
    return right;
}

/* ---- Sums ---------------------------------------------------------------- */

static double fraction(long step, int origin, size_t i)
{
    return 1.0 / (double)(3 + (mix4((uint64_t)step, (uint64_t)origin, i, 0) & 0xffff));
}

/* The others' terms have arrived when all have met, and no rank adds more until all have met
 * again. */
static void sum_up(const struct batches *batches, long step)
{
    const struct program *program = batches->program;

    for (size_t i = 0; i < batches->size; i++) {
        const double term = fraction(step, program->rank, i);

        for (int target = 0; target < program->ranks; target++) {
            MPI_Accumulate(&term, 1, MPI_DOUBLE, target, (MPI_Aint)place_of(batches, -1, i),
                           1, MPI_DOUBLE, MPI_SUM, batches->area.window);
        }
    }
    area_meet(&batches->area);
    seen(batches->area.own, batches->size * sizeof(double));
}

/* Compares the sums, except for rounding. */
static int has_summed_up(const struct batches *batches)
{
    const struct program *program = batches->program;
    const double *own = (const double *)batches->area.own;
    int right = 1;

    for (size_t i = 0; i < batches->size; i++) {
        double sum = 0;

        for (long step = 0; step < program->steps; step++) {
            for (int origin = 0; origin < program->ranks; origin++) {
                sum += fraction(step, origin, i);
            }
        }
        right &= fabs(own[i] - sum) <= 1e-9 * sum;
    }
    return right;
}

/* ---- Both ---------------------------------------------------------------- */

static void step_all(const struct batches *batches, long step)
{
    if (batches->program->mode == SUMS) {
        sum_up(batches, step);
    } else {
        add_to_others(batches);
        count(batches);
    }
    area_meet(&batches->area);
    if (batches->program->mode == COUNTS) {
        seen(batches->area.own, batches->size * sizeof(uint64_t));
    }
}

int main(int argc, char **argv)
{
    struct program program = {
        .name = "batches", .steps = 2000, .size = 500, .seed = 1, .modes = modes};
    struct batches batches = {.program = &program};
    uint64_t sum;
    int right;

    program_begin(&program, argc, argv);
    batches.size = (size_t)program.size;
    area_make(&batches.area, place_of(&batches, program.ranks, 0), 0);
    for (long step = 0; step < program.steps; step++) {
        program_step(&program, step);
        step_all(&batches, step);
    }
    right = program.mode == SUMS ? has_summed_up(&batches) : has_counted(&batches);
    sum = program.rank == 0 ? mix4(program.seed, (uint64_t)program.steps, batches.size, 0) : 0;
    area_free(&batches.area);
    return program_end(&program, sum, right);
}
