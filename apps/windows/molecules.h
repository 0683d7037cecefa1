/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * molecules.h - the molecules of water_nsquared and water_spatial.
 *
 * A molecule is one place in a closed box, and two of them act on each other
 * along the line between them, within a cutoff: instead of water's potential of
 * three sites, a polynomial that repels when they are near and attracts before
 * the cutoff. With d the vector between them, of length r, and q the square of
 * r by the cutoff, the force is K (1 - q)^2 (1 - 1.5 q) d.
 *
 * Places, velocities and forces are integers, in units of the box's side by 2
 * to the 64th, and of a step: closing the box and adding wrap around by
 * themselves, forces of a pair are exactly opposite, and sums do not depend on
 * an order. So the molecules of both programs move alike, with any number of
 * ranks, and their momentum never changes by one unit.
 */
#ifndef MOLECULES_H
#define MOLECULES_H

#include "program.h"

struct molecule {
    uint64_t place[3];
    uint64_t velocity[3]; /* signed, as are forces; modulo 2^64 */
};

/* The last step, as the programs record it for the check. */
struct molecules {
    struct program *program;
    double cutoff;       /* by the box's side; a third at most */
    struct area records; /* dealt out in blocks of the molecules' numbers */
};

/* --size molecules. Collective; freed by molecules_free(). */
void molecules_make(struct molecules *molecules, struct program *program);

/* Collective. */
void molecules_free(struct molecules *molecules);

/* Molecule `number` at the beginning. */
struct molecule molecules_initial(const struct molecules *molecules,
                                  long number);

/* The force of the molecule at `other` on that at `one`; 0 if there is none. */
int molecules_force(const struct molecules *molecules, const uint64_t one[3],
                    const uint64_t other[3], uint64_t force[3]);

/* A step of one molecule under all forces on it. */
void molecules_move(struct molecule *molecule, const uint64_t force[3]);

/* Records a molecule before the last step, and the force on it there. Local; a
 * molecule is recorded by one rank. */
void molecules_record(const struct molecules *molecules, long number,
                      const struct molecule *molecule, const uint64_t force[3]);

/* Compares the recorded forces with those of all pairs of the recorded places,
 * and the sum of all velocities with that at the beginning; adds this rank's
 * molecules to the sum. Collective. */
int molecules_are_right(const struct molecules *molecules, uint64_t *sum);

#endif
