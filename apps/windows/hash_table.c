/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hash_table.c - counts how often each key has been drawn, in a hash table that
 * is distributed over a window.
 *
 * In each step the ranks draw --size keys from as many and count them. A key
 * gets a slot in the part of the rank that its hash determines:
 * MPI_Compare_and_swap tries one slot after the other. MPI_Fetch_and_op counts
 * the key there. Then each rank looks up, with MPI_Get or loads, the keys that
 * the next rank has drawn. A key's slot depends on timing, its count does not.
 * At the end each rank compares its part with the draws. The counts that the
 * operations have returned must be those from 0 up, each once.
 */
#include "blocks.h"
#include "program.h"

#define ROOM  2  /* slots for a key */
#define SPARE 64 /* extra slots, as a part may get more */

struct slot {
    uint64_t key; /* the key plus one; 0: free */
    uint64_t count;
};

struct table {
    struct program *program;
    struct area area;
    uint64_t slots; /* in each part */
};

/* ---- Draws, and where their keys belong ---------------------------------- */

static uint64_t draw(const struct program *program, long step, long index)
{
    return mix4(program->seed, (uint64_t)step, (uint64_t)index, 0) %
           (uint64_t)program->size;
}

static int owner_of(const struct program *program, uint64_t key)
{
    return (int)(mix4(program->seed, key, 0, 1) % (uint64_t)program->ranks);
}

/* Returns the offset of the slot for attempt number `attempt`. */
static size_t slot_at(const struct table *table, uint64_t key, uint64_t attempt)
{
    const uint64_t first = mix4(table->program->seed, key, 0, 2);

    CHECK(attempt < table->slots); /* else the part is full */
    return (size_t)((first + attempt) % table->slots) * sizeof(struct slot);
}

/* ---- The table ----------------------------------------------------------- */

/* Counts a key once more; returns its previous count. */
static uint64_t count(const struct table *table, uint64_t key)
{
    const int owner = owner_of(table->program, key);
    uint64_t attempt = 0, found;
    size_t at;

    do {
        at = slot_at(table, key, attempt++);
        found = area_compare_and_swap(&table->area, owner, at, 0, key + 1);
    } while (found != 0 && found != key + 1);
    return area_fetch_add(&table->area, owner,
                          at + offsetof(struct slot, count), 1);
}

/* Returns the count of a key, 0 if it is missing; no rank counts meanwhile. */
static uint64_t look_up(const struct table *table, uint64_t key)
{
    const int owner = owner_of(table->program, key);
    struct slot slot;
    uint64_t attempt = 0;

    do {
        area_read(&table->area, owner, slot_at(table, key, attempt++), &slot,
                  sizeof slot);
    } while (slot.key != 0 && slot.key != key + 1);
    return slot.count;
}

/* Runs one step; adds the returned counts to *found. Returns 0 if a key was
 * missing. */
static int run_step(const struct table *table, long step, uint64_t *found)
{
    const struct program *program = table->program;
    const int ranks = program->ranks, next = (program->rank + 1) % ranks;
    const long own = blocks_first(program->size, ranks, program->rank);
    const long others = blocks_first(program->size, ranks, next);
    int right = 1;

    for (long i = 0; i < blocks_count(program->size, ranks, program->rank);
         i++) {
        *found += count(table, draw(program, step, own + i));
    }
    area_meet(&table->area);
    for (long i = 0; i < blocks_count(program->size, ranks, next); i++) {
        right &= look_up(table, draw(program, step, others + i)) > 0;
    }
    area_meet(&table->area);
    return right;
}

/* ---- The check ----------------------------------------------------------- */

/* Returns how often each key has been drawn; the caller frees the array. */
static uint64_t *count_draws(const struct program *program)
{
    uint64_t *counts = calloc((size_t)program->size, sizeof *counts);

    CHECK(counts != NULL);
    for (long step = 0; step < program->steps; step++) {
        for (long i = 0; i < program->size; i++) {
            counts[draw(program, step, i)]++;
        }
    }
    return counts;
}

/* Compares this rank's part with the draws, and adds it to the sum. */
static int part_is_right(const struct table *table, uint64_t *counts,
                         uint64_t *sum)
{
    const struct slot *slots = (const struct slot *)table->area.own;
    const struct program *program = table->program;
    int right = 1;

    for (uint64_t i = 0; i < table->slots; i++) {
        if (slots[i].key != 0) {
            const uint64_t key = slots[i].key - 1;

            CHECK(key < (uint64_t)program->size);
            right &= owner_of(program, key) == program->rank &&
                     slots[i].count == counts[key];
            counts[key] = 0; /* a second slot for it would be wrong */
            *sum += mix4(key, slots[i].count, 0, 0);
        }
    }
    for (long key = 0; key < program->size; key++) {
        right &= counts[key] == 0 ||
                 owner_of(program, (uint64_t)key) != program->rank;
    }
    return right;
}

static int is_right(const struct table *table, uint64_t found, uint64_t *sum)
{
    struct program *program = table->program;
    uint64_t *counts = count_draws(program), expected = 0;
    int right;

    for (long key = 0; key < program->size; key++) {
        expected += counts[key] * (counts[key] - 1) / 2;
    }
    right = part_is_right(table, counts, sum);
    free(counts);
    return right & (program_sum(program, found) == expected);
}

int main(int argc, char **argv)
{
    struct program program = {.name = "hash_table",
                              .steps = 1000,
                              .size = 10000,
                              .seed = 1,
                              .has_shared = 1};
    struct table table = {.program = &program};
    uint64_t found = 0, sum = 0;
    int right = 1;

    program_begin(&program, argc, argv);
    table.slots = ROOM * (uint64_t)blocks_largest(program.size, program.ranks) +
                  SPARE;
    area_make(&table.area, table.slots * sizeof(struct slot), program.shared);
    for (long step = 0; step < program.steps; step++) {
        program_step(&program, step);
        right &= run_step(&table, step, &found);
    }
    right &= is_right(&table, found, &sum);
    area_free(&table.area);
    return program_end(&program, sum, right);
}
