/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * molecules.c - see molecules.h.
 */
#include "molecules.h"

#include "blocks.h"

#include <math.h>

#define SIDE        0x1p64 /* of the box, in units */
#define STRENGTH    0.004  /* K */
#define SPEED       0.01   /* initially, of each component, in cutoffs */
#define NEIGHBOURS  30     /* molecules within the cutoff, about */
#define LARGEST     (1.0 / 3)
#define JITTER      0.3 /* of the initial lattice */
#define FULL_CIRCLE 6.283185307179586

struct record {
    struct molecule molecule;
    uint64_t force[3];
};

void molecules_make(struct molecules *molecules, struct program *program)
{
    const double n = (double)program->size;
    const double cutoff = cbrt(NEIGHBOURS * 3 / (2 * FULL_CIRCLE * n));
    const long own = blocks_count(program->size, program->ranks, program->rank);

    molecules->program = program;
    molecules->cutoff = cutoff < LARGEST ? cutoff : LARGEST;
    area_make(&molecules->records, (size_t)own * sizeof(struct record),
              program->shared);
}

void molecules_free(struct molecules *molecules)
{
    area_free(&molecules->records);
}

struct molecule molecules_initial(const struct molecules *molecules,
                                  long number)
{
    const struct program *program = molecules->program;
    const long side = (long)ceil(cbrt((double)program->size));
    const long cell[3] = {number % side, number / side % side,
                          number / side / side};
    struct molecule made;

    for (uint64_t i = 0; i < 3; i++) {
        const uint64_t n = (uint64_t)number;
        const double off = fraction_of(mix4(program->seed, n, i, 1)) - 0.5;
        const double speed = 2 * fraction_of(mix4(program->seed, n, i, 2)) - 1;
        const double place = ((double)cell[i] + 0.5 + JITTER * off) /
                             (double)side;

        made.place[i] = (uint64_t)(place * SIDE);
        made.velocity[i] =
            (uint64_t)llrint(speed * SPEED * molecules->cutoff * SIDE);
    }
    return made;
}

int molecules_force(const struct molecules *molecules, const uint64_t one[3],
                    const uint64_t other[3], uint64_t force[3])
{
    double d[3], square = 0, q, strength;

    for (int i = 0; i < 3; i++) {
        d[i] = (double)(int64_t)(one[i] - other[i]) / SIDE;
        square += d[i] * d[i];
    }
    q = square / (molecules->cutoff * molecules->cutoff);
    if (q >= 1) {
        return 0;
    }
    strength = STRENGTH * (1 - q) * (1 - q) * (1 - 1.5 * q);
    for (int i = 0; i < 3; i++) {
        force[i] = (uint64_t)llrint(strength * d[i] * SIDE);
    }
    return 1;
}

void molecules_move(struct molecule *molecule, const uint64_t force[3])
{
    for (int i = 0; i < 3; i++) {
        molecule->velocity[i] += force[i];
        molecule->place[i] += molecule->velocity[i];
    }
}

/* ---- The check ----------------------------------------------------------- */

void molecules_record(const struct molecules *molecules, long number,
                      const struct molecule *molecule, const uint64_t force[3])
{
    const struct program *program = molecules->program;
    const int owner = blocks_owner(program->size, program->ranks, number);
    const long first = blocks_first(program->size, program->ranks, owner);
    struct record record = {.molecule = *molecule};

    memcpy(record.force, force, sizeof record.force);
    area_write(&molecules->records, owner,
               (size_t)(number - first) * sizeof record, &record,
               sizeof record);
}

/* Reads the records of all molecules; the caller frees them. */
static struct record *read_records(const struct molecules *molecules)
{
    const struct program *program = molecules->program;
    const long n = program->size;
    struct record *records = malloc((size_t)n * sizeof *records);

    CHECK(records != NULL);
    for (int i = 0; i < program->ranks; i++) {
        area_read(&molecules->records, i, 0,
                  records + blocks_first(n, program->ranks, i),
                  (size_t)blocks_count(n, program->ranks, i) * sizeof *records);
    }
    return records;
}

static int force_is_right(const struct molecules *molecules,
                          const struct record *records, long number)
{
    uint64_t total[3] = {0, 0, 0}, force[3];

    for (long i = 0; i < molecules->program->size; i++) {
        if (i != number &&
            molecules_force(molecules, records[number].molecule.place,
                            records[i].molecule.place, force)) {
            for (int k = 0; k < 3; k++) {
                total[k] += force[k];
            }
        }
    }
    return memcmp(total, records[number].force, sizeof total) == 0;
}

/* Compares the momentum before the last step and, as forces are opposite, after
 * it. */
static int momentum_is_right(const struct molecules *molecules,
                             const struct record *records)
{
    uint64_t change[3] = {0, 0, 0};

    for (long i = 0; i < molecules->program->size; i++) {
        const struct molecule at_first = molecules_initial(molecules, i);

        for (int k = 0; k < 3; k++) {
            change[k] += records[i].molecule.velocity[k] -
                         at_first.velocity[k];
        }
    }
    return change[0] == 0 && change[1] == 0 && change[2] == 0;
}

int molecules_are_right(const struct molecules *molecules, uint64_t *sum)
{
    const struct program *program = molecules->program;
    const long first =
        blocks_first(program->size, program->ranks, program->rank);
    const long end =
        blocks_first(program->size, program->ranks, program->rank + 1);
    struct record *records;
    int right;

    area_meet(&molecules->records);
    records = read_records(molecules);
    right = momentum_is_right(molecules, records);
    for (long i = first; i < end; i++) {
        right &= force_is_right(molecules, records, i);
        *sum += checksum(mix((uint64_t)i), &records[i], sizeof records[i]);
    }
    free(records);
    return right;
}
