/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree.h - an octree of bodies in a window, built by all ranks at once.
 *
 * Each rank has a pool of cells in its part. A word of a cell names one of its
 * eight children, a cell of any rank or a body. A body goes down from the root,
 * and MPI_Compare_and_swap puts it into an empty place. If another body is
 * there, a new cell with that body first takes its place. The pool of a cell
 * depends on timing; the tree and the order of its sums do not. The deepest
 * level is summed first, and the eight children in their order.
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
    double half;         /* half the root's side; its centre is at 0 */
    uint64_t room, used; /* cells of this rank's pool */
    uint64_t *built;     /* all pools' copies: last reads */
    struct cell *copies;
    uint64_t builds;
};

/* Makes a tree for `bodies` bodies. Collective; freed by tree_free(). */
void tree_make(struct tree *tree, struct program *program, long bodies);

/* Collective. */
void tree_free(struct tree *tree);

/* Builds a new tree. Each rank brings `count` bodies from `first` on, which are
 * in the cube of this half side around 0. `places` has all bodies, and must
 * stay valid. Collective. */
void tree_build(struct tree *tree, const double (*places)[3], double half,
                long first, long count);

/* Computes the acceleration of a body by the others, from the last built tree.
 * Cells that look small from the body count as one. The next tree_build() waits
 * until all ranks have finished these calls. */
void tree_acceleration(struct tree *tree, long body, double acceleration[3]);

/* Adds the acceleration that a mass at `from` gives to a body at `to`. */
void tree_add_attraction(const double to[3], const double from[3], double mass,
                         double acceleration[3]);

#endif
