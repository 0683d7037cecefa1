/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * water_spatial.c - molecules that move under the forces of near ones, found by
 * cells of space, in the manner of SPLASH-2's Water-Spatial.
 *
 * The box is cut into cells no smaller than the cutoff, which the ranks have in
 * blocks. A cell is a list of molecules in its rank's part of a window; there
 * are two sets of lists. In a step each rank reads the cells around its own
 * (MPI_Get, or loads with --shared), computes the forces on its cells'
 * molecules and moves them. A moved molecule goes into the list of its cell, on
 * whichever rank, in the other set: MPI_Fetch_and_op reserves a place there,
 * and MPI_Rput or stores fill it. The place in the list depends on timing, but
 * no sum does. The potential and the check are in molecules.h; the result
 * equals water_nsquared's.
 */
#include "blocks.h"
#include "molecules.h"

#define ROOM   96 /* molecules in a cell; on average some ten */
#define AROUND 27 /* neighbouring cells, itself included */

struct member {
    uint64_t number;
    struct molecule molecule;
};

struct cell {
    uint64_t count;
    struct member members[ROOM];
};

struct water {
    struct program *program;
    struct molecules molecules;
    struct area area;  /* each rank's cells, twice */
    long side, cells;  /* box side in cells; all cells */
    long first, count; /* this rank's cells */
    struct cell *copy; /* all cells, as far as read */
    long *read_at;     /* the step of the last read */
};

/* ---- Cells --------------------------------------------------------------- */

/* Returns the offset of a cell in its rank's part of a set. */
static size_t cell_at(const struct water *water, int set, long cell, int *owner)
{
    const int ranks = water->program->ranks;
    long first, count;

    *owner = blocks_owner(water->cells, ranks, cell);
    first = blocks_first(water->cells, ranks, *owner);
    count = blocks_count(water->cells, ranks, *owner);
    return (size_t)(set * count + cell - first) * sizeof(struct cell);
}

/* Returns a cell's content at a step; reads it once. */
static const struct cell *read_cell(const struct water *water, long step,
                                    long cell)
{
    struct cell *copy = &water->copy[cell];

    if (water->read_at[cell] != step) {
        int owner;
        const size_t at = cell_at(water, (int)(step % 2), cell, &owner);

        area_read(&water->area, owner, at, copy, sizeof *copy);
        CHECK(copy->count <= ROOM);
        water->read_at[cell] = step;
    }
    return copy;
}

static long cell_of(const struct water *water, const uint64_t place[3])
{
    long cell = 0;

    for (int i = 0; i < 3; i++) { /* upper bits: exact, and within the box */
        cell = cell * water->side +
               (long)(((place[i] >> 32) * (uint64_t)water->side) >> 32);
    }
    return cell;
}

static void find_around(const struct water *water, long cell,
                        long around[AROUND])
{
    const long side = water->side;
    const long x = cell / side / side, y = cell / side % side, z = cell % side;

    for (int i = 0; i < AROUND; i++) {
        const long a = (x + i / 9 + side - 1) % side;
        const long b = (y + i / 3 % 3 + side - 1) % side;
        const long c = (z + i % 3 + side - 1) % side;

        around[i] = (a * side + b) * side + c;
    }
}

/* Puts a molecule into the list of its cell. */
static void insert(const struct water *water, int set,
                   const struct member *member)
{
    int owner;
    const size_t cell =
        cell_at(water, set, cell_of(water, member->molecule.place), &owner);
    const uint64_t place = area_fetch_add(
        &water->area, owner, cell + offsetof(struct cell, count), 1);

    CHECK(place < ROOM);
    area_write(&water->area, owner,
               cell + offsetof(struct cell, members) +
                   (size_t)place * sizeof *member,
               member, sizeof *member);
}

/* ---- A step -------------------------------------------------------------- */

static void add_force(const struct water *water, const struct cell *cell,
                      const struct member *member, uint64_t total[3])
{
    uint64_t force[3];

    for (uint64_t i = 0; i < cell->count; i++) {
        if (cell->members[i].number != member->number &&
            molecules_force(&water->molecules, member->molecule.place,
                            cell->members[i].molecule.place, force)) {
            for (int k = 0; k < 3; k++) {
                total[k] += force[k];
            }
        }
    }
}

static void move_cell(const struct water *water, long step, long number)
{
    const struct cell *cell = read_cell(water, step, number);
    long around[AROUND];

    find_around(water, number, around);
    for (uint64_t i = 0; i < cell->count; i++) {
        struct member member = cell->members[i];
        uint64_t force[3] = {0, 0, 0};

        for (int k = 0; k < AROUND; k++) {
            add_force(water, read_cell(water, step, around[k]), &member, force);
        }
        if (step + 1 == water->program->steps) {
            molecules_record(&water->molecules, (long)member.number,
                             &member.molecule, force);
        }
        molecules_move(&member.molecule, force);
        insert(water, (int)((step + 1) % 2), &member);
    }
}

static void run_step(const struct water *water, long step)
{
    struct cell *own = (struct cell *)water->area.own +
                       (step % 2) * water->count;

    for (long i = 0; i < water->count; i++) {
        move_cell(water, step, water->first + i);
    }
    area_meet(&water->area); /* all have read this step's lists */
    for (long i = 0; i < water->count; i++) {
        own[i].count = 0;
    }
    area_meet(&water->area);
}

/* ---- Begin and end ------------------------------------------------------- */

static void make(struct water *water, struct program *program)
{
    const int ranks = program->ranks, rank = program->rank;
    const long from = blocks_first(program->size, ranks, rank);
    const long to = blocks_first(program->size, ranks, rank + 1);

    water->program = program;
    molecules_make(&water->molecules, program);
    water->side = (long)(1 / water->molecules.cutoff);
    water->cells = water->side * water->side * water->side;
    water->first = blocks_first(water->cells, ranks, rank);
    water->count = blocks_count(water->cells, ranks, rank);
    water->copy = calloc((size_t)water->cells, sizeof *water->copy);
    water->read_at = malloc((size_t)water->cells * sizeof *water->read_at);
    CHECK(water->copy != NULL && water->read_at != NULL);
    for (long i = 0; i < water->cells; i++) {
        water->read_at[i] = -1;
    }
    area_make(&water->area, 2 * (size_t)water->count * sizeof(struct cell),
              program->shared);
    for (long i = from; i < to; i++) {
        const struct member member = {
            (uint64_t)i, molecules_initial(&water->molecules, i)};

        insert(water, 0, &member);
    }
    area_meet(&water->area);
}

static void unmake(struct water *water)
{
    area_free(&water->area);
    molecules_free(&water->molecules);
    free(water->read_at);
    free(water->copy);
}

int main(int argc, char **argv)
{
    struct program program = {.name = "water_spatial",
                              .steps = 750,
                              .size = 3000,
                              .seed = 1,
                              .has_shared = 1};
    struct water water;
    uint64_t sum = 0;
    int right;

    program_begin(&program, argc, argv);
    make(&water, &program);
    for (long step = 0; step < program.steps; step++) {
        program_step(&program, step);
        run_step(&water, step);
    }
    right = molecules_are_right(&water.molecules, &sum);
    unmake(&water);
    return program_end(&program, sum, right);
}
