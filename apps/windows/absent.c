/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * absent.c - one rank computes for long without a call of MPI, while the others write to its
 * memory.
 *
 * All ranks compute equally much. After each step each rank except rank 0 writes --size words of
 * that step into its place in the memory of rank 0. Rank 0 checks them when it has done all its
 * steps.
 */
#include "program.h"

/* The words of a step, each computed from the previous one: about half a millisecond. */
enum {
    CHAIN = 100000
};

static uint64_t compute(uint64_t word)
{
    for (int i = 0; i < CHAIN; i++) {
        word = mix(word + 1);
    }
    return word;
}

static uint64_t word_of(const struct program *program, long step, int rank, size_t i)
{
    return mix4(program->seed, (uint64_t)step, (uint64_t)rank, i);
}

static size_t place_of(const struct program *program, int rank)
{
    return (size_t)(rank - 1) * (size_t)program->size;
}

/* In rank 0: returns the computed number. */
static uint64_t compute_alone(struct program *program)
{
    uint64_t word = program->seed;

    for (long step = 0; step < program->steps; step++) {
        program_step(program, step);
        word = compute(word);
    }
    return word;
}

static void compute_and_write(const struct area *area, struct program *program,
                              uint64_t *words)
{
    const size_t at = place_of(program, program->rank) * sizeof(*words);
    /* The compiler must not remove the unused computation. */
    volatile uint64_t word = program->seed;

    for (long step = 0; step < program->steps; step++) {
        program_step(program, step);
        word = compute(word);
        for (size_t i = 0; i < (size_t)program->size; i++) {
            words[i] = word_of(program, step, program->rank, i);
        }
        area_write(area, 0, at, words, (size_t)program->size * sizeof(*words));
        area_flush(area, 0);
    }
}

/* In rank 0: each place has the words of the last step. */
static int is_right(const struct area *area, const struct program *program)
{
    int right = 1;

    for (int rank = 1; rank < program->ranks; rank++) {
        const uint64_t *words = (const uint64_t *)area->own + place_of(program, rank);

        for (size_t i = 0; i < (size_t)program->size; i++) {
            right &= words[i] == word_of(program, program->steps - 1, rank, i);
        }
    }
    return right;
}

int main(int argc, char **argv)
{
    struct program program = {.name = "absent", .steps = 2000, .size = 100, .seed = 1};
    struct area area;
    uint64_t *words, sum = 0;

    program_begin(&program, argc, argv);
    words = malloc((size_t)program.size * sizeof(*words));
    CHECK(words != NULL);
    area_make(&area, (size_t)program.ranks * (size_t)program.size * sizeof(*words), 0);
    if (program.rank == 0) {
        sum = compute_alone(&program);
    } else {
        compute_and_write(&area, &program, words);
    }
    area_meet(&area);
    const int right = program.rank != 0 || is_right(&area, &program);
    area_free(&area);
    free(words);
    return program_end(&program, sum, right);
}
