/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree.h - an octree of bodies in a window, built by all ranks at once.
 *
 * Each rank has a pool of cells in its part; a word of a cell names one of its
 * eight children, a cell of any rank or a body. A body goes down from the root,
 * and MPI_Compare_and_swap puts it where nothing is; where another body is, a
 * new cell with that one takes its place first. So in which pool a cell is
 * depends on time; the tree does not, nor the order of its sums: the level that
 * is deepest is summed first, and the eight children in their order.
 */
#ifndef TREE_H
#define TREE_H

#include "program.h"

struct cell {
    uint64_t child[8];
    double mass;
    double centre[3]; /* of the mass */
    uint64_t level;   /* the root's is 0 */
};

struct tree {
    struct program *program;
    struct area area;
    const double (*places)[3]; /* of all bodies, each of mass 1 / bodies */
    long bodies;
    double half;               /* of the root's side; its middle is at 0 */
    uint64_t room, used;       /* cells of this rank's pool */
    uint64_t *built;           /* copies of all pools: when each was read */
    struct cell *copies;
    uint64_t builds;
};

/* A tree for so many bodies. Collective; freed by tree_free(). */
void tree_make(struct tree *tree, struct program *program, long bodies);

/* Collective. */
void tree_free(struct tree *tree);

/* Builds the tree anew; each rank brings `count` bodies from `first` on, which
 * are in the cube of that half side around 0. `places` has all bodies, and is
 * kept. Collective. */
void tree_build(struct tree *tree, const double (*places)[3], double half,
                long first, long count);

/* The acceleration of a body by the others, of the tree that was built last:
 * cells that look small from the body count as one. The next tree_build()
 * waits until all ranks have what they want. */
void tree_acceleration(struct tree *tree, long body, double acceleration[3]);

/* Adds the acceleration that so much mass at `from` gives to who is at `to`. */
void tree_add_attraction(const double to[3], const double from[3], double mass,
                         double acceleration[3]);

#endif
