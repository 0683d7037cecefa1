/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uneven.c - ranks that log unequal amounts between barriers.
 *
 * In each step a rank writes to its neighbour's memory: rank 0 --size words, the last rank 1.6
 * times as many. Then it meets all others. All ranks compute equally much, so a rank that waits in
 * a barrier waits for other reasons. The program prints the waiting time at the end.
 */
#include "program.h"

#include <time.h>

enum {
    LIGHT,
    HEAVY
};

static const char *const modes[] = {"light", "heavy", NULL};

/* Rounds of the generator for a word: with --mode heavy there is much to compute, and little to
 * log. */
static const int rounds[] = {[LIGHT] = 1, [HEAVY] = 500};

struct uneven {
    struct program *program;
    struct area area;
    uint64_t *words;
    size_t most;   /* words */
    double waited; /* seconds */
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static size_t words_of(const struct program *program, int rank)
{
    const size_t size = (size_t)program->size;
    const size_t last = program->ranks > 1 ? (size_t)program->ranks - 1 : 1;

    return size + size * 6 / 10 * (size_t)rank / last;
}

static uint64_t word_of(const struct program *program, long step, int rank, size_t i)
{
    uint64_t word = i;

    for (int k = 0; k < rounds[program->mode]; k++) {
        word = mix4(program->seed, (uint64_t)step, (uint64_t)rank, word);
    }
    return word;
}

static void write_step(struct uneven *uneven, long step)
{
    const struct program *program = uneven->program;
    const int to = (program->rank + 1) % program->ranks;
    const size_t bytes = words_of(program, program->rank) * sizeof *uneven->words;
    double begin;

    for (size_t i = 0; i < uneven->most; i++) {
        uneven->words[i] = word_of(program, step, program->rank, i);
    }
    area_write(&uneven->area, to, 0, uneven->words, bytes);
    area_flush(&uneven->area, to);
    begin = now();
    area_meet(&uneven->area);
    uneven->waited += now() - begin;
}

/* Checks the neighbour's writes of the last step. */
static int is_right(const struct uneven *uneven)
{
    const struct program *program = uneven->program;
    const int from = (program->rank + program->ranks - 1) % program->ranks;
    const uint64_t *own = (const uint64_t *)uneven->area.own;
    int right = 1;

    for (size_t i = 0; i < words_of(program, from); i++) {
        right &= own[i] == word_of(program, program->steps - 1, from, i);
    }
    return right;
}

static void run(struct uneven *uneven)
{
    struct program *program = uneven->program;
    const double begin = now();
    uint64_t waited, ran;

    for (long step = 0; step < program->steps; step++) {
        program_step(program, step);
        write_step(uneven, step);
    }
    waited = program_sum(program, (uint64_t)(uneven->waited * 1e6));
    ran = program_sum(program, (uint64_t)((now() - begin) * 1e6));
    if (program->rank == 0) {
        printf("uneven: %.2f %% of the time in barriers\n",
               100.0 * (double)waited / (double)ran);
    }
}

int main(int argc, char **argv)
{
    struct program program = {
        .name = "uneven", .steps = 2000, .size = 1000, .seed = 1, .modes = modes};
    struct uneven uneven = {.program = &program};
    uint64_t sum;
    int right;

    program_begin(&program, argc, argv);
    uneven.most = words_of(&program, program.ranks - 1);
    uneven.words = malloc(uneven.most * sizeof *uneven.words);
    CHECK(uneven.words != NULL);
    area_make(&uneven.area, uneven.most * sizeof *uneven.words, 0);
    run(&uneven);
    right = is_right(&uneven);
    sum = program.rank == 0 ? mix4(program.seed, (uint64_t)program.steps,
                                   (uint64_t)program.size, 0)
                            : 0;
    area_free(&uneven.area);
    free(uneven.words);
    return program_end(&program, sum, right);
}
