/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * water_nsquared.c - molecules that move under the forces of all pairs, in the
 * manner of SPLASH-2's Water-Nsquared.
 *
 * The ranks have the --size molecules in blocks. In a step each rank reads all
 * places (MPI_Rget, or loads with --shared). It computes the forces between
 * each of its molecules and the half of all molecules that follow it. It sums
 * the forces locally first, then adds its sums to those in the windows of the
 * molecules' ranks. With --mode accumulate it does so molecule by molecule, by
 * MPI_Accumulate. With --mode lock it adds a rank's sums all at once, under a
 * ticket lock of that rank. After a barrier each rank moves its own molecules,
 * whose velocities only it knows. The potential and the check are in
 * molecules.h.
 */
#include "blocks.h"
#include "molecules.h"
#include "seen.h"
#include "ticket_lock.h"

enum {
    BY_ACCUMULATE,
    BY_LOCK
};

static const char *const modes[] = {"accumulate", "lock", NULL};

#define FORCES_AT TICKET_LOCK_BYTES /* in each part of the window of forces */

typedef uint64_t vector[3];

struct water {
    struct program *program;
    struct molecules molecules;
    struct area places, forces;
    struct molecule *own; /* this rank's molecules */
    long first, count;    /* their numbers */
    vector *place;        /* all places, as read in this step */
    vector *force;        /* on all, from this rank's pairs */
    vector *before;       /* for additions under a lock */
};

static long first_of(const struct water *water, int rank)
{
    return blocks_first(water->program->size, water->program->ranks, rank);
}

static long count_of(const struct water *water, int rank)
{
    return first_of(water, rank + 1) - first_of(water, rank);
}

/* ---- A step -------------------------------------------------------------- */

static void read_places(const struct water *water)
{
    const int ranks = water->program->ranks;
    MPI_Request requests[ranks];

    for (int i = 0; i < ranks; i++) {
        vector *to = water->place + first_of(water, i);
        const size_t bytes = (size_t)count_of(water, i) * sizeof *to;

        requests[i] = MPI_REQUEST_NULL;
        if (water->places.part[i] != NULL) {
            memcpy(to, water->places.part[i], bytes);
        } else {
            MPI_Rget(to, (int)bytes, MPI_BYTE, i, 0, (int)bytes, MPI_BYTE,
                     water->places.window, &requests[i]);
        }
    }
    MPI_Waitall(ranks, requests, MPI_STATUSES_IGNORE);
    seen(water->place, (size_t)water->program->size * sizeof *water->place);
}

/* Returns how many of the molecules after `i` form pairs with it. */
static long partners(long i, long n)
{
    return n % 2 == 0 && i >= n / 2 ? n / 2 - 1 : n / 2;
}

static void compute_forces(const struct water *water)
{
    const long n = water->program->size;

    memset(water->force, 0, (size_t)n * sizeof *water->force);
    for (long i = water->first; i < water->first + water->count; i++) {
        for (long k = 1; k <= partners(i, n); k++) {
            const long j = (i + k) % n;
            vector force;

            if (molecules_force(&water->molecules, water->place[i],
                                water->place[j], force)) {
                for (int axis = 0; axis < 3; axis++) {
                    water->force[i][axis] += force[axis];
                    water->force[j][axis] -= force[axis];
                }
            }
        }
    }
}

static void accumulate(const struct water *water, int rank)
{
    const vector zero = {0, 0, 0};
    vector *sums = water->force + first_of(water, rank);

    for (long i = 0; i < count_of(water, rank); i++) {
        if (memcmp(sums[i], zero, sizeof zero) != 0) {
            MPI_Accumulate(sums[i], 3, MPI_UINT64_T, rank,
                           (MPI_Aint)(FORCES_AT + (size_t)i * sizeof zero), 3,
                           MPI_UINT64_T, MPI_SUM, water->forces.window);
        }
    }
}

static void add_locked(const struct water *water, int rank)
{
    const long count = count_of(water, rank);
    const size_t bytes = (size_t)count * sizeof(vector);
    vector *sums = water->force + first_of(water, rank);

    ticket_lock(&water->forces, rank, 0);
    area_read(&water->forces, rank, FORCES_AT, water->before, bytes);
    for (long i = 0; i < count; i++) {
        for (int axis = 0; axis < 3; axis++) {
            water->before[i][axis] += sums[i][axis];
        }
    }
    area_write(&water->forces, rank, FORCES_AT, water->before, bytes);
    ticket_unlock(&water->forces, rank, 0);
}

/* Adds forces at all ranks; each rank begins with itself, so that ranks do not
 * queue. */
static void add_forces(const struct water *water)
{
    const int ranks = water->program->ranks;

    for (int i = 0; i < ranks; i++) {
        const int rank = (water->program->rank + i) % ranks;

        if (water->program->mode == BY_LOCK) {
            add_locked(water, rank);
        } else {
            accumulate(water, rank);
        }
    }
    area_meet(&water->forces);
}

static void show_places(const struct water *water)
{
    vector *places = (vector *)water->places.own;

    for (long i = 0; i < water->count; i++) {
        memcpy(places[i], water->own[i].place, sizeof *places);
    }
    area_meet(&water->places);
}

/* Moves this rank's molecules, and clears the window of forces. */
static void move(const struct water *water, int is_last)
{
    vector *forces = (vector *)(water->forces.own + FORCES_AT);

    for (long i = 0; i < water->count; i++) {
        if (is_last) {
            molecules_record(&water->molecules, water->first + i,
                             &water->own[i], forces[i]);
        }
        molecules_move(&water->own[i], forces[i]);
    }
    memset(forces, 0, (size_t)water->count * sizeof *forces);
    MPI_Win_sync(water->forces.window);
    show_places(water); /* includes a barrier */
}

/* ---- Begin and end ------------------------------------------------------- */

static void make(struct water *water, struct program *program)
{
    const size_t n = (size_t)program->size;

    water->program = program;
    water->first = first_of(water, program->rank);
    water->count = count_of(water, program->rank);
    water->own = calloc((size_t)water->count + 1, sizeof *water->own);
    water->place = calloc(n, sizeof *water->place);
    water->force = calloc(n, sizeof *water->force);
    water->before = calloc(n, sizeof *water->before);
    CHECK(water->own != NULL && water->place != NULL && water->force != NULL &&
          water->before != NULL);
    molecules_make(&water->molecules, program);
    area_make(&water->places, (size_t)water->count * sizeof(vector),
              program->shared);
    area_make(&water->forces, FORCES_AT + (size_t)water->count * sizeof(vector),
              program->shared);
    for (long i = 0; i < water->count; i++) {
        water->own[i] = molecules_initial(&water->molecules, water->first + i);
    }
    show_places(water);
}

static void unmake(struct water *water)
{
    area_free(&water->forces);
    area_free(&water->places);
    molecules_free(&water->molecules);
    free(water->before);
    free(water->force);
    free(water->place);
    free(water->own);
}

int main(int argc, char **argv)
{
    struct program program = {.name = "water_nsquared",
                              .steps = 1500,
                              .size = 1000,
                              .seed = 1,
                              .has_shared = 1,
                              .modes = modes};
    struct water water;
    uint64_t sum = 0;
    int right;

    program_begin(&program, argc, argv);
    make(&water, &program);
    for (long step = 0; step < program.steps; step++) {
        program_step(&program, step);
        read_places(&water);
        compute_forces(&water);
        add_forces(&water);
        move(&water, step + 1 == program.steps);
    }
    right = molecules_are_right(&water.molecules, &sum);
    unmake(&water);
    return program_end(&program, sum, right);
}
