/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barnes.c - bodies that attract each other, by the method of Barnes and Hut,
 * in the manner of SPLASH-2's Barnes.
 *
 * The ranks have the --size bodies in blocks. In a step each rank moves its own
 * bodies, publishes their places in a window and reads the others' (MPI_Get, or
 * loads with --shared). All ranks build one octree in a second window (see
 * tree.h). They compute their bodies' accelerations from its cells, which they
 * read from each other on demand. The size of the tree is the largest
 * coordinate of all ranks. Only a body's rank knows its velocity. At the end
 * each rank compares its bodies' accelerations with direct sums over all
 * others.
 */
#include "blocks.h"
#include "tree.h"

#include <math.h>

#define TIME_STEP 0.002
#define TOLERANCE 0.02 /* mean error of accelerations */

struct body {
    double velocity[3], acceleration[3];
};

typedef double vector[3];

struct bodies {
    struct program *program;
    struct area area; /* the places */
    struct tree tree;
    long first, count; /* this rank's */
    struct body *own;
    vector *places; /* all places, as read in this step */
};

static vector *own_places(const struct bodies *bodies)
{
    return bodies->places + bodies->first;
}

/* Chooses a place in the ball around 0 with radius 1. */
static void choose_place(uint64_t seed, long body, vector place)
{
    double square;
    uint64_t attempt = 0;

    do {
        square = 0;
        for (uint64_t i = 0; i < 3; i++) {
            place[i] = 2 * fraction_of(mix4(seed, (uint64_t)body, i,
                                            attempt)) -
                       1;
            square += place[i] * place[i];
        }
        attempt++;
    } while (square > 1);
}

/* ---- A step -------------------------------------------------------------- */

static void exchange_places(const struct bodies *bodies)
{
    const struct program *program = bodies->program;
    const int rank = program->rank;

    area_meet(&bodies->area); /* all have read the last step's places */
    area_write(&bodies->area, rank, 0, own_places(bodies),
               (size_t)bodies->count * sizeof(vector));
    area_meet(&bodies->area);
    for (int i = 0; i < program->ranks; i++) {
        const long first = blocks_first(program->size, program->ranks, i);
        const long count = blocks_count(program->size, program->ranks, i);

        if (i != rank) {
            area_read(&bodies->area, i, 0, bodies->places + first,
                      (size_t)count * sizeof(vector));
        }
    }
}

/* Returns half the side of a cube around 0 with all bodies. */
static double half_side(const struct bodies *bodies)
{
    double largest = 0;

    for (long i = 0; i < bodies->count; i++) {
        for (int k = 0; k < 3; k++) {
            largest = fmax(largest, fabs(own_places(bodies)[i][k]));
        }
    }
    return 1.001 * program_max(bodies->program, largest);
}

static void accelerate(struct bodies *bodies)
{
    exchange_places(bodies);
    tree_build(&bodies->tree, (const double(*)[3])bodies->places,
               half_side(bodies), bodies->first, bodies->count);
    for (long i = 0; i < bodies->count; i++) {
        tree_acceleration(&bodies->tree, bodies->first + i,
                          bodies->own[i].acceleration);
    }
}

static void kick(const struct bodies *bodies)
{
    for (long i = 0; i < bodies->count; i++) {
        for (int k = 0; k < 3; k++) {
            bodies->own[i].velocity[k] +=
                TIME_STEP / 2 * bodies->own[i].acceleration[k];
        }
    }
}

static void drift(const struct bodies *bodies)
{
    for (long i = 0; i < bodies->count; i++) {
        for (int k = 0; k < 3; k++) {
            own_places(bodies)[i][k] +=
                TIME_STEP * bodies->own[i].velocity[k];
        }
    }
}

/* ---- The check, begin and end -------------------------------------------- */

/* The accelerations belong to the present places of the bodies. */
static int is_right(const struct bodies *bodies)
{
    double error = 0, all = 0;

    for (long i = 0; i < bodies->count; i++) {
        const long body = bodies->first + i;
        vector direct = {0, 0, 0};

        for (long j = 0; j < bodies->program->size; j++) {
            if (j != body) {
                tree_add_attraction(bodies->places[body], bodies->places[j],
                                    1 / (double)bodies->program->size, direct);
            }
        }
        for (int k = 0; k < 3; k++) {
            const double off = bodies->own[i].acceleration[k] - direct[k];

            error += off * off;
            all += direct[k] * direct[k];
        }
    }
    return error <= TOLERANCE * TOLERANCE * all;
}

static uint64_t sum_of(const struct bodies *bodies)
{
    uint64_t sum = 0;

    for (long i = 0; i < bodies->count; i++) {
        const uint64_t start = mix((uint64_t)(bodies->first + i));

        sum += checksum(checksum(start, own_places(bodies)[i], sizeof(vector)),
                        &bodies->own[i], sizeof bodies->own[i]);
    }
    return sum;
}

static void make(struct bodies *bodies, struct program *program)
{
    bodies->program = program;
    bodies->first = blocks_first(program->size, program->ranks, program->rank);
    bodies->count = blocks_count(program->size, program->ranks, program->rank);
    bodies->own = calloc((size_t)bodies->count + 1, sizeof *bodies->own);
    bodies->places = calloc((size_t)program->size, sizeof *bodies->places);
    CHECK(bodies->own != NULL && bodies->places != NULL);
    area_make(&bodies->area, (size_t)bodies->count * sizeof(vector),
              program->shared);
    tree_make(&bodies->tree, program, program->size);
    for (long i = 0; i < bodies->count; i++) {
        choose_place(program->seed, bodies->first + i, own_places(bodies)[i]);
    }
}

static void unmake(struct bodies *bodies)
{
    tree_free(&bodies->tree);
    area_free(&bodies->area);
    free(bodies->places);
    free(bodies->own);
}

int main(int argc, char **argv)
{
    struct program program = {.name = "barnes",
                              .steps = 600,
                              .size = 1000,
                              .seed = 1,
                              .has_shared = 1};
    struct bodies bodies;
    uint64_t sum;
    int right;

    program_begin(&program, argc, argv);
    make(&bodies, &program);
    accelerate(&bodies);
    for (long step = 0; step < program.steps; step++) {
        program_step(&program, step);
        kick(&bodies);
        drift(&bodies);
        accelerate(&bodies);
        kick(&bodies);
    }
    right = is_right(&bodies);
    sum = sum_of(&bodies);
    unmake(&bodies);
    return program_end(&program, sum, right);
}
