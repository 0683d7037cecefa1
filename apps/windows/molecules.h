/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * molecules.h - the molecules of water_nsquared and water_spatial.
 *
 * A molecule is one point in a periodic box. Two molecules act on each other
 * along the line between them, within a cutoff. The potential is not water's,
 * with three sites, but a polynomial that repels at short distances and
 * attracts before the cutoff. If d is the vector between them, of length r, and
 * q is the square of r divided by the cutoff, the force is K (1 - q)^2 (1 - 1.5
 * q) d.
 *
 * Places, velocities and forces are integers. The units are the box's side
 * divided by 2 to the 64th, and a step. So additions wrap around at the box's
 * boundary, the forces of a pair are exactly opposite, and sums do not depend
 * on the order. The molecules of both programs therefore move alike, with any
 * number of ranks, and their momentum never changes by one unit.
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
    double cutoff;       /* in box sides; a third at most */
    struct area records; /* in blocks of the molecules' numbers */
};

/* Makes --size molecules. Collective; freed by molecules_free(). */
void molecules_make(struct molecules *molecules, struct program *program);

/* Collective. */
void molecules_free(struct molecules *molecules);

/* Returns molecule `number` at the beginning. */
struct molecule molecules_initial(const struct molecules *molecules,
                                  long number);

/* Computes the force of the molecule at `other` on the one at `one`; returns 0
 * if there is none. */
int molecules_force(const struct molecules *molecules, const uint64_t one[3],
                    const uint64_t other[3], uint64_t force[3]);

/* Moves a molecule by one step under the sum of all forces on it. */
void molecules_move(struct molecule *molecule, const uint64_t force[3]);

/* Records a molecule before the last step, and the force on it there. Local;
 * one rank records each molecule. */
void molecules_record(const struct molecules *molecules, long number,
                      const struct molecule *molecule, const uint64_t force[3]);

/* Compares the recorded forces with the forces of all pairs of recorded places,
 * and the sum of all velocities with its initial value. Adds this rank's
 * molecules to the sum. Collective. */
int molecules_are_right(const struct molecules *molecules, uint64_t *sum);

#endif
