/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree.c - see tree.h.
 */
#include "tree.h"

#include <math.h>

#define NOTHING   UINT64_C(0)
#define BODY      (UINT64_C(1) << 63) /* plus its number */
#define CELL      (UINT64_C(1) << 62) /* plus its rank above its index */
#define RANK_AT   32
#define ROOT      CELL /* cell 0 of rank 0 */
#define SPARE     64   /* cells of a pool beyond the number of bodies */
#define DEEPEST   64
#define OPENING   0.5  /* if side / distance is less, the cell counts as one */
#define SOFTENING 1e-4 /* added to squared distances */

/* ---- Words and cells ----------------------------------------------------- */

static uint64_t cell_word(int rank, uint64_t index)
{
    return CELL | (uint64_t)rank << RANK_AT | index;
}

static int is_body(uint64_t word)
{
    return (word & BODY) != 0;
}

static long body_of(uint64_t word)
{
    return (long)(word & ~BODY);
}

static int rank_of(uint64_t word)
{
    return (int)((word & ~CELL) >> RANK_AT);
}

static uint64_t index_of(uint64_t word)
{
    return word & UINT32_MAX;
}

static size_t cell_at(uint64_t word)
{
    return (size_t)index_of(word) * sizeof(struct cell);
}

static size_t child_at(uint64_t word, int child)
{
    return cell_at(word) + offsetof(struct cell, child) +
           (size_t)child * sizeof(uint64_t);
}

static struct cell *own_cells(const struct tree *tree)
{
    return (struct cell *)tree->area.own;
}

void tree_make(struct tree *tree, struct program *program, long bodies)
{
    size_t cells;

    tree->program = program;
    tree->bodies = bodies;
    tree->room = (uint64_t)bodies + SPARE;
    tree->used = 0;
    tree->builds = 0;
    cells = (size_t)tree->room * (size_t)program->ranks;
    tree->copies = malloc(cells * sizeof *tree->copies);
    tree->built = calloc(cells, sizeof *tree->built);
    CHECK(tree->copies != NULL && tree->built != NULL);
    area_make(&tree->area, (size_t)tree->room * sizeof(struct cell),
              program->shared);
}

void tree_free(struct tree *tree)
{
    area_free(&tree->area);
    free(tree->built);
    free(tree->copies);
}

/* ---- Building ------------------------------------------------------------ */

/* The position of a body on its way down. */
struct position {
    uint64_t cell;
    double middle[3], half;
    uint64_t level;
};

static int octant_of(const struct position *at, const double place[3])
{
    int octant = 0;

    for (int i = 0; i < 3; i++) {
        octant = 2 * octant + (place[i] >= at->middle[i]);
    }
    return octant;
}

/* Moves into child `octant`, which is `cell`. */
static void go_down(struct position *at, int octant, uint64_t cell)
{
    at->half /= 2;
    for (int i = 0; i < 3; i++) {
        at->middle[i] += (octant >> (2 - i) & 1) != 0 ? at->half : -at->half;
    }
    at->cell = cell;
    at->level++;
    CHECK(at->level < DEEPEST); /* else two bodies have the same place */
}

/* Puts a cell with the body `other` into its place, unless another rank does so
 * first; returns the present content of that place. */
static uint64_t divide(struct tree *tree, const struct position *at, int octant,
                       uint64_t other)
{
    const uint64_t made = cell_word(tree->program->rank, tree->used);
    struct position below = *at;
    uint64_t found;
    size_t in_made;

    CHECK(tree->used < tree->room);
    go_down(&below, octant, made);
    in_made = child_at(made, octant_of(&below, tree->places[body_of(other)]));
    own_cells(tree)[tree->used].level = below.level;
    area_replace(&tree->area, tree->program->rank, in_made, other);
    found = area_compare_and_swap(&tree->area, rank_of(at->cell),
                                  child_at(at->cell, octant), other, made);
    if (found != other) {
        area_replace(&tree->area, tree->program->rank, in_made, NOTHING);
        return found;
    }
    tree->used++;
    return made;
}

static void insert(struct tree *tree, long body)
{
    const uint64_t own = BODY | (uint64_t)body;
    struct position at = {ROOT, {0, 0, 0}, tree->half, 0};
    uint64_t found;

    do {
        const int octant = octant_of(&at, tree->places[body]);
        const size_t child = child_at(at.cell, octant);

        found = area_compare_and_swap(&tree->area, rank_of(at.cell), child,
                                      NOTHING, own);
        if (is_body(found)) {
            found = divide(tree, &at, octant, found);
        }
        if (found != NOTHING) {
            go_down(&at, octant, found);
        }
    } while (found != NOTHING);
}

/* Adds a mass at a place to the cell's mass. */
static void add_mass(struct cell *cell, double mass, const double place[3])
{
    cell->mass += mass;
    for (int i = 0; i < 3; i++) {
        cell->centre[i] += mass * place[i];
    }
}

/* Sums a cell of this rank, after the cells below. */
static void sum_cell(const struct tree *tree, struct cell *cell)
{
    for (int i = 0; i < 8; i++) {
        const uint64_t word = cell->child[i];
        struct cell child;

        if (is_body(word)) {
            add_mass(cell, 1 / (double)tree->bodies,
                     tree->places[body_of(word)]);
        } else if (word != NOTHING) {
            area_read(&tree->area, rank_of(word), cell_at(word), &child,
                      sizeof child);
            add_mass(cell, child.mass, child.centre);
        }
    }
    for (int i = 0; i < 3 && cell->mass > 0; i++) {
        cell->centre[i] /= cell->mass;
    }
}

static void sum_levels(const struct tree *tree)
{
    uint64_t deepest = 0;
    long level;

    for (uint64_t i = 0; i < tree->used; i++) {
        const uint64_t of_cell = own_cells(tree)[i].level;

        deepest = of_cell > deepest ? of_cell : deepest;
    }
    level = (long)program_max(tree->program, (double)deepest);
    for (; level >= 0; level--) {
        for (uint64_t i = 0; i < tree->used; i++) {
            if (own_cells(tree)[i].level == (uint64_t)level) {
                sum_cell(tree, &own_cells(tree)[i]);
            }
        }
        area_meet(&tree->area);
    }
}

void tree_build(struct tree *tree, const double (*places)[3], double half,
                long first, long count)
{
    tree->places = places;
    tree->half = half;
    tree->builds++;
    area_meet(&tree->area); /* no rank needs the last tree */
    memset(own_cells(tree), 0, (size_t)tree->room * sizeof(struct cell));
    tree->used = tree->program->rank == 0 ? 1 : 0; /* the root */
    area_meet(&tree->area);
    for (long i = first; i < first + count; i++) {
        insert(tree, i);
    }
    area_meet(&tree->area);
    sum_levels(tree);
}

/* ---- Accelerations ------------------------------------------------------- */

static const struct cell *read_cell(struct tree *tree, uint64_t word)
{
    const size_t copy = (size_t)rank_of(word) * (size_t)tree->room +
                        (size_t)index_of(word);

    if (tree->built[copy] != tree->builds) {
        area_read(&tree->area, rank_of(word), cell_at(word),
                  &tree->copies[copy], sizeof(struct cell));
        tree->built[copy] = tree->builds;
    }
    return &tree->copies[copy];
}

static double squared_distance(const double one[3], const double other[3])
{
    double square = 0;

    for (int i = 0; i < 3; i++) {
        square += (one[i] - other[i]) * (one[i] - other[i]);
    }
    return square;
}

void tree_add_attraction(const double to[3], const double from[3], double mass,
                         double acceleration[3])
{
    const double square = squared_distance(to, from) + SOFTENING;
    const double strength = mass / (square * sqrt(square));

    for (int i = 0; i < 3; i++) {
        acceleration[i] += strength * (from[i] - to[i]);
    }
}

static void add_below(struct tree *tree, uint64_t word, double side, long body,
                      double acceleration[3])
{
    const double *to = tree->places[body];
    const struct cell *cell;

    if (word == NOTHING || word == (BODY | (uint64_t)body)) {
        return;
    }
    if (is_body(word)) {
        tree_add_attraction(to, tree->places[body_of(word)],
                            1 / (double)tree->bodies, acceleration);
        return;
    }
    cell = read_cell(tree, word);
    if (side * side < OPENING * OPENING * squared_distance(to, cell->centre)) {
        tree_add_attraction(to, cell->centre, cell->mass, acceleration);
        return;
    }
    for (int i = 0; i < 8; i++) {
        add_below(tree, cell->child[i], side / 2, body, acceleration);
    }
}

void tree_acceleration(struct tree *tree, long body, double acceleration[3])
{
    for (int i = 0; i < 3; i++) {
        acceleration[i] = 0;
    }
    add_below(tree, ROOT, 2 * tree->half, body, acceleration);
}
